# Tool chains of the CRUXEval-X languages that Debian 13 has, in one image.
#   python -m ct_tasks containers build
# Without access to a registry: make a base with containers/base.sh and pass --base NAME.
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

FROM compiled AS big
RUN apt-get update \
 && apt-get install -y --no-install-recommends swiftlang \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN apt-get update \
 && apt-get install -y --no-install-recommends racket r-base-core ldc scala mono-mcs npm \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM big AS full
# A certificate of the network that the build runs in, if it has one of its own (see `containers build`).
COPY certificates/ /opt/ct/certificates/
RUN if [ -s /opt/ct/certificates/extra.pem ]; then export NODE_EXTRA_CA_CERTS=/opt/ct/certificates/extra.pem; fi \
 && npm install --global --ignore-scripts typescript@7.0.2 @types/node@24.19.4 && npm cache clean --force
COPY batch/ /opt/ct/batch/
# Warm what every program would pay for: the C++ header, Go's standard library, the batch compilers, Swift's module cache.
RUN mkdir -p /opt/ct/pch/bits /opt/ct/gocache /opt/ct/gopath \
 && cp "$(find /usr/include -path '*/c++/*/bits/stdc++.h' | head -1)" /opt/ct/pch/bits/stdc++.h \
 && g++ -std=c++17 -x c++-header /opt/ct/pch/bits/stdc++.h -o /opt/ct/pch/bits/stdc++.h.gch \
 && javac -d /opt/ct/batch /opt/ct/batch/BatchJavac.java \
 && scalac -d /opt/ct/batch /opt/ct/batch/BatchScalac.scala \
 && printf 'package f_test\nimport ("testing"; "fmt"; "strings"; "sort"; "strconv"; "math"; "regexp"; "unicode"; "reflect"; "bytes"; "errors"; "time")\nfunc TestF(t *testing.T) { fmt.Sprint(strings.ToUpper(strconv.Itoa(int(math.Sqrt(4))))); sort.Ints(nil); regexp.MustCompile("a"); unicode.IsDigit(49); reflect.TypeOf(1); bytes.NewBuffer(nil); errors.New("a"); time.Now() }\n' > /tmp/w_test.go \
 && GO111MODULE=off GOCACHE=/opt/ct/gocache GOPATH=/opt/ct/gopath go test -c -vet=off -o /tmp/w /tmp/w_test.go && rm -f /tmp/w* \
 && chmod -R a+rwX /opt/ct/gocache && chmod -R a+rX /opt/ct
