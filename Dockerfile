# Build: the Swift image, with the C libraries' headers.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libnghttp2-dev libssl-dev libsqlite3-dev libhttp-parser-dev libyaml-dev libcurl4-openssl-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY docs/openapi docs/openapi
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product widgetpush \
 && install -s -m 0755 .build/release/widgetpush /usr/local/bin/widgetpush

# Run: Debian slim with the C libraries alone; the Swift runtime is inside the binary.
FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates libnghttp2-14 libssl3 libsqlite3-0 libhttp-parser2.9 libyaml-0-2 libcurl4 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --home-dir /var/lib/widgetpush --create-home --shell /usr/sbin/nologin widgetpush \
 && install -d -o widgetpush -g widgetpush /state
COPY --from=build /usr/local/bin/widgetpush /usr/local/bin/widgetpush
USER widgetpush
ENV WIDGETPUSH_STATE_DIR=/state
WORKDIR /var/lib/widgetpush
VOLUME ["/state", "/var/lib/widgetpush"]
EXPOSE 2197 8443 8444
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["widgetpush", "health"]
ENTRYPOINT ["widgetpush"]
CMD ["gateway", "--bind", "0.0.0.0"]
