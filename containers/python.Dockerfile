# What the Python pool's `backend="docker"` runs in: Python and its standard library, nothing else.
#   docker build -t codethinker-eval-python -f containers/python.Dockerfile containers
# Without access to a registry: make a base with debootstrap + `docker import`, and pass --build-arg BASE=NAME.
ARG BASE=debian:trixie-slim
FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
