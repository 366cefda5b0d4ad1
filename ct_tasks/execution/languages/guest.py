"""The runner inside the container: compiles and runs programs, each as a user of its own, and reports what happened.

It is shipped as text (``python3 -c``), so it imports nothing but the standard library. One request (a JSON line) comes in
on standard input: ``{"recipe", "programs", "workers", "memory_mb"}``; results go out as JSON lines, as they are done. It runs
as root *inside* the container with no other capability than changing users and killing them; the programs do not.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# (types would only lengthen what is sent with every request)

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

WALL_FACTOR = 4.0  # limits count CPU time; a program that waits gets this many times as much wall time
STRETCH = 10  # how many times that a busy machine may make of it
CAP = 4000  # characters of stdout and stderr that are kept
FILE_MB = 64
FIRST_UID = 20000
NOT_PASSED = {"status": "exception", "stage": "batch", "stdout": "", "stderr": "did not pass", "cpu": 0.0, "wall": 0.0}
# What lets one TypeScript program change how another is checked; whoever says such a word is built alone.
REACHES_OTHERS = re.compile(r"\b(global|module|import)\b|///")
APART = ("java", "scala")  # batch compilers that share nothing between programs but the process
BUILDERS_FROM = 1000  # a slot's compiler runs as this many users further on


def run(argv, uid, folder, seconds, env, memory_mb):
    """One process tree as ``uid``; (status, stdout, stderr, cpu seconds, wall seconds, exit code)."""
    out, err = (  # closed below, after they were read
        open(os.path.join(folder, name), "w+b")  # noqa: SIM115
        for name in (".stdout", ".stderr")
    )
    command = [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={uid}",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        "prlimit",
        f"--cpu={int(seconds) + 1}:{int(seconds) + 3}",
        f"--fsize={FILE_MB << 20}",
        "--nproc=128",
        "--nofile=256",
        f"--data={memory_mb << 20}",
        "--core=0",
        "--stack=67108864:67108864",
        "--",
        *argv,
    ]
    clean = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": folder,
        "LANG": "C.UTF-8",
        "TMPDIR": folder,
        **env,
    }
    start = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=clean, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
    )
    status, code, cpu = "ok", 0, 0.0
    deadline = start + seconds * WALL_FACTOR
    pause = 0.001
    while True:
        pid, raw, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(raw)
            cpu = usage.ru_utime + usage.ru_stime
            break
        if time.monotonic() > deadline:
            deadline = start + seconds * WALL_FACTOR + min(waited(uid), seconds * WALL_FACTOR * (STRETCH - 1))
        if time.monotonic() > deadline:
            status = "timeout"
            end_user(uid)
            _, raw, usage = os.wait4(process.pid, 0)
            code = os.waitstatus_to_exitcode(raw)
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    process.returncode = code
    end_user(uid)
    texts = []
    for stream in (out, err):
        size = stream.seek(0, 2)
        stream.seek(0)
        texts.append(stream.read(CAP).decode("utf-8", "replace"))
        if size >= FILE_MB << 20 and status == "ok":
            status = "output_limit"
        stream.close()
    # A program that ignores SIGXCPU is killed by the kernel two seconds later.
    spent = code in (-signal.SIGKILL, 128 + signal.SIGKILL) and cpu >= seconds
    if spent or code in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        status = "timeout"
    if code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) and status == "ok":
        status = "output_limit"
    return {
        "status": status,
        "code": code,
        "stdout": texts[0],
        "stderr": texts[1],
        "cpu": cpu,
        "wall": time.monotonic() - start,
    }


def end_user(uid):
    """Kill every process of this user, and again until none is left. Most programs leave none, so look first."""
    for _ in range(100):
        if not processes_of(uid):
            return
        child = os.fork()
        if child == 0:
            try:
                os.setgid(uid)
                os.setuid(uid)
                os.kill(-1, signal.SIGKILL)  # reaches whoever forks faster than a list of pids can be read
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.005)
    raise RuntimeError(f"processes of user {uid} would not die")


def processes_of(uid):
    """Pids of this user that are not zombies already."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        if file.read().rsplit(b")", 1)[1].split()[0] != b"Z":
                            found.append(int(name))
            except OSError:
                continue  # it ended while we looked
    return found


def waited(uid):
    """Seconds that one of the user's threads was ready to run and had no processor; the machine's doing, not the program's."""
    lost = 0
    for pid in processes_of(uid):
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:
                    lost = max(lost, int(file.read().split()[1]))
        except (OSError, ValueError, IndexError):
            continue  # it ended while we looked, or this kernel does not tell
    return lost / 1e9


def cache_of(uid):
    """A compiler's own cache, which only this building user can write."""
    folder = f"/tmp/ct-cache-{uid}"
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)
        os.chown(folder, uid, uid)
    return folder


def fill(argv, folder, source):
    return [
        a.replace("{src}", source).replace("{dir}", folder).replace("{exe}", os.path.join(folder, "prog")) for a in argv
    ]


def verdict(recipe, step, memory_mb):
    """Status of a run as the benchmark's own runner reads it."""
    if step["status"] != "ok":
        return step["status"]
    text = step["stdout"] + step["stderr"]
    if (
        step["code"] != 0
        or any(mark in text for mark in recipe["fail_text"])
        or (recipe["stderr_fails"] and step["stderr"])
    ):
        low = text.lower()
        if "out of memory" in low or "bad_alloc" in low or "outofmemoryerror" in low or "memoryerror" in low:
            return "memory"
        return "exception"
    return "ok"


class Guest:
    def __init__(self, request):
        self.recipe, self.programs = request["recipe"], request["programs"]
        self.memory_mb, self.workers, self.runs = request["memory_mb"], request["workers"], request["runs"]
        self.lock = threading.Lock()
        self.root = tempfile.mkdtemp(prefix="ct-", dir="/tmp")
        os.chmod(self.root, 0o711)

    def report(self, row):
        with self.lock:
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()

    def place(self, index, uid):
        """A fresh folder with the program in it."""
        folder = os.path.join(self.root, f"{index}-{os.urandom(8).hex()}")
        os.mkdir(folder)
        source = os.path.join(folder, self.recipe["file"])
        with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self.programs[index])
        os.chown(source, uid, uid)
        os.chown(folder, uid, uid)
        os.chmod(folder, 0o700)
        return folder, source

    def alone(self, index, uid):
        """Compile and run one program the official way. The compiler is another user than the program, so that no
        program can touch what a later build reads."""
        recipe = self.recipe
        builder = uid + BUILDERS_FROM if recipe["compile"] else uid
        folder, source = self.place(index, builder)
        cpu = wall = 0.0
        try:
            if recipe["compile"]:
                argv = [a.replace("{cache}", cache_of(builder)) for a in fill(recipe["compile"], folder, source)]
                if recipe["extra_if"] and recipe["extra_if"][0] in self.programs[index]:
                    argv = [argv[0], *recipe["extra_if"][1], *argv[1:]]
                step = run(argv, builder, folder, recipe["compile_s"], self.environment(builder), 4096)
                cpu, wall = step["cpu"], step["wall"]
                if step["status"] != "ok" or step["code"] != 0:
                    status = step["status"] if step["status"] != "ok" else "exception"
                    text = step["stderr"] or step["stdout"]
                    return {
                        "status": status,
                        "stage": "compile",
                        "stdout": "",
                        "stderr": text,
                        "cpu": cpu,
                        "wall": wall,
                    }
                subprocess.run(["chown", "-R", f"{uid}:{uid}", folder], check=True)
            return self.launch(folder, source, uid, cpu, wall)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def environment(self, uid):
        return {k: v.replace("{cache}", cache_of(uid)) for k, v in self.recipe["env"].items()}

    def launch(self, folder, source, uid, cpu, wall):
        """Run what was built, as often as asked; the row is that of the first run that failed, or of the last."""
        recipe = self.recipe
        rows = []
        for _ in range(self.runs):
            step = run(
                fill(recipe["run"], folder, source), uid, folder, recipe["run_s"], self.environment(uid), self.memory_mb
            )
            cpu, wall = cpu + step["cpu"], wall + step["wall"]
            rows.append(
                {
                    "status": verdict(recipe, step, self.memory_mb),
                    "stage": "run",
                    "stdout": step["stdout"],
                    "stderr": step["stderr"],
                }
            )
        clean = [row["status"] == "ok" for row in rows]
        return {**rows[clean.index(False) if False in clean else -1], "clean": sum(clean), "cpu": cpu, "wall": wall}

    def parallel(self, work, items):
        todo: queue.SimpleQueue[object] = queue.SimpleQueue()
        for item in items:
            todo.put(item)

        def loop(uid):
            while True:
                try:
                    item = todo.get_nowait()
                except queue.Empty:
                    return
                work(item, uid)

        threads = [threading.Thread(target=loop, args=(FIRST_UID + n,)) for n in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def go(self):
        passed = self.batch() if self.recipe["batch"] and len(self.programs) > 1 else set()

        def work(index, uid):
            self.report({"i": index, **self.alone(index, uid)})

        left = [i for i in range(len(self.programs)) if i not in passed]
        if self.recipe["batch"] and not self.recipe["retry"]:
            for i in left:
                self.report({"i": i, **NOT_PASSED})
        else:
            self.parallel(work, left)
        shutil.rmtree(self.root, ignore_errors=True)

    def batch(self):
        """Compile many in one process, run each in its own; what does not pass is left to be run again alone.

        Where the batch compiler gives each program a compiler of its own, what was built is what would be built alone, so
        only the run is done again, in a folder that no run has seen.
        """
        kind = self.recipe["batch"]
        builders = [FIRST_UID - 1 - n for n in range(self.workers if kind in APART else 1)]
        places = [self.place(i, builders[i % len(builders)]) for i in range(len(self.programs))]
        settled: set[int] = set()
        try:
            built = BUILDERS[kind](self, places, builders)
            again = kind in APART and self.recipe["retry"]

            def work(index, uid):
                folder = places[index][0]
                folders = [folder, folder + "-again"] if again else [folder]
                for copy in folders[1:]:
                    shutil.copytree(folder, copy)  # root's until its run: the run before cannot reach it
                for at in folders:
                    subprocess.run(["chown", "-R", f"{uid}:{uid}", at], check=True)
                    row = self.launch(at, os.path.join(at, self.recipe["file"]), uid, 0.0, 0.0)
                    if row["status"] == "ok":
                        break
                if row["status"] == "ok" or again:
                    settled.add(index)
                    self.report({"i": index, **row})
                for copy in folders[1:]:
                    shutil.rmtree(copy)

            self.parallel(work, sorted(built))
        finally:
            for folder, _ in places:
                shutil.rmtree(folder, ignore_errors=True)
        return settled


def build_jvm(main):
    """Builds with resident compilers, one a worker; each program has a compiler object of its own (containers/batch)."""

    def build(guest, places, uids):
        built: set[int] = set()

        def part(n, _):
            mine = range(n, len(places), len(uids))
            listing = os.path.join(guest.root, f"list-{os.urandom(8).hex()}")
            with open(listing, "w") as file:
                file.write("".join(f"{places[i][1]}\t{places[i][0]}\n" for i in mine))
            os.chmod(listing, 0o644)
            work = os.path.join(guest.root, f"build-{os.urandom(8).hex()}")
            os.mkdir(work)
            os.chown(work, uids[n], uids[n])
            step = run([*main, listing], uids[n], work, 60 + 3 * len(mine), {}, 8192)
            lines = open_all(os.path.join(work, ".stdout")).splitlines()  # of one that was stopped, what it had done
            shutil.rmtree(work, ignore_errors=True)
            os.remove(listing)
            if step["status"] != "output_limit":
                built.update(mine[int(line.split()[0])] for line in lines if line.endswith(" ok"))

        guest.parallel(part, range(min(len(uids), len(places))))
        return built

    return build


def build_ts(guest, places, uids):
    (uid,) = uids
    options = [a for a in guest.recipe["compile"][1:] if "{" not in a and a != "--outDir"]
    out = os.path.join(guest.root, f"out-{os.urandom(8).hex()}")
    os.mkdir(out)
    os.chown(out, uid, uid)
    subprocess.run(["chown", f"{uid}:{uid}", guest.root], check=True)
    together = [i for i, text in enumerate(guest.programs) if not REACHES_OTHERS.search(text)]
    argv = ["tsc", *options, "--rootDir", guest.root, "--outDir", out, *[places[i][1] for i in together]]
    step = run(argv, uid, out, 60 + len(places), guest.recipe["env"], 8192)
    built = set()
    if step["status"] == "ok":
        text = open_all(os.path.join(out, ".stdout"))
        for index in together:
            folder = places[index][0]
            name = os.path.basename(folder)
            made = os.path.join(out, name, "p.js")
            if name not in text and os.path.isfile(made):
                os.makedirs(os.path.join(folder, "out"))
                os.rename(made, os.path.join(folder, "out", "p.js"))
                built.add(index)
    shutil.rmtree(out, ignore_errors=True)
    return built


def open_all(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


BUILDERS = {
    "java": build_jvm(["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", "/opt/ct/batch", "BatchJavac"]),
    "scala": build_jvm(
        ["java", "-Xmx1g", "-Xss16m", "-XX:+UseSerialGC", "-cp", "/opt/ct/batch:/usr/share/java/*", "BatchScalac"]
    ),
    "ts": build_ts,
}


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    Guest(json.loads(sys.stdin.readline())).go()
    print(json.dumps({"done": True}), flush=True)
