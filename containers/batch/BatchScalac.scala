import scala.io.Source
import scala.tools.nsc.{Global, Settings}
import scala.tools.nsc.reporters.StoreReporter

/** Compiles many programs in one warm JVM, each with a compiler of its own: symbols of one never reach another.
  * Argument: a file with lines "source TAB folder"; prints "index ok". */
object BatchScalac {
  def main(args: Array[String]): Unit = {
    val settings = new Settings
    settings.usejavacp.value = true
    settings.nowarn.value = true
    val reporter = new StoreReporter
    for ((line, index) <- Source.fromFile(args(0)).getLines.zipWithIndex) {
      val Array(source, folder) = line.split("\t")
      reporter.reset()
      val ok = try {
        settings.outputDirs.setSingleOutput(folder)
        settings.outdir.value = folder
        val global = new Global(settings, reporter)
        val run = new global.Run
        run.compile(List(source))
        !reporter.hasErrors
      } catch { case _: Throwable => false }
      println(index + (if (ok) " ok" else " failed"))
    }
  }
}
