import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

/** Compiles many programs in one JVM. Argument: a file with lines "source TAB folder"; prints "index ok" for each that builds. */
public class BatchJavac {
    public static void main(String[] args) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        PrintStream out = System.out;
        int index = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] parts = line.split("\t");
            boolean ok = false;
            try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
                List<String> options = List.of("-encoding", "UTF8", "-proc:none", "-cp", "/usr/share/java/javatuples.jar", "-d", parts[1]);
                ok = compiler.getTask(new StringWriter(), files, new DiagnosticCollector<>(), options, null,
                                      files.getJavaFileObjects(parts[0])).call();
            } catch (Throwable ignored) {
                // A compiler crash on one program must not end the others; it is built again alone.
            }
            out.println(index++ + (ok ? " ok" : " failed"));
        }
    }
}
