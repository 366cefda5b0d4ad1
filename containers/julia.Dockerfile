# Julia, which Debian 12 and 13 lack. In production `--base julia:1`; on Debian 11 (bullseye) its own package, 1.5.3.
#   python -m ct_tasks containers build jl --base julia:1
ARG BASE=julia:1
FROM ${BASE}
ENV DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 util-linux $(command -v julia >/dev/null || echo julia) \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
