# Tool chains of the CRUXEval-X languages that Debian 13 has, in one image.
#   python -m ct_tasks containers build            (or: docker build -t codethinker-eval-languages -f containers/languages.Dockerfile containers)
# Without access to a registry: make a base with debootstrap + `docker import`, and pass --build-arg BASE=NAME.
# The largest layers come first, so that a change further down does not fetch them again.
ARG BASE=debian:trixie-slim
FROM ${BASE} AS small
ENV DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates python3 python-is-python3 bsdextrautils perl libtest-deep-perl lua5.4 lua-unit php-cli \
      ruby ruby-test-unit nodejs \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM small AS compiled
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ lld golang-go openjdk-21-jdk-headless libjavatuples-java rustc \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM compiled AS full
RUN apt-get update \
 && apt-get install -y --no-install-recommends swiftlang \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN apt-get update \
 && apt-get install -y --no-install-recommends racket r-base-core ldc scala mono-mcs npm \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN npm install --global --ignore-scripts typescript@7 @types/node@24 && npm cache clean --force
