"""An OpenAI-compatible server over one GGUF file (llama.cpp through the PyPI package ``xllamacpp``), on this machine only.

    python tests/live/serve.py MODEL.gguf --port 8071 --parallel 8 --threads 2

Runs in an environment of its own: ``pip install xllamacpp`` is all it needs. ``make.py`` says where the weights come from.
"""

import argparse
import time

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8071)
    parser.add_argument("--parallel", type=int, default=8, help="requests at once")
    parser.add_argument("--room", type=int, default=4096, help="tokens of prompt and reply together, a request")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.hostnames = ["127.0.0.1"]
    params.port = args.port
    params.n_parallel = args.parallel
    params.n_ctx = args.room * args.parallel
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(f"serving {args.model} on port {args.port}", flush=True)
    while server is not None:
        time.sleep(60)


if __name__ == "__main__":
    main()
