# syntax=docker/dockerfile:1

# Both stages are Debian 13, so the binary meets the glibc that it was linked against.
FROM rust:1.95-slim-trixie AS build
WORKDIR /src
COPY . .
# `target` is a cache, not a layer: what the image needs is copied out of it.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    cargo build --release --locked --bin n8n-lens \
    && cp target/release/n8n-lens /usr/local/bin/n8n-lens

# glibc, libgcc_s and the CA certificates; no shell.
FROM gcr.io/distroless/cc-debian13:nonroot
ARG VERSION=0.1.0
LABEL io.modelcontextprotocol.server.name="io.github.n8n-lens/n8n-lens" \
      org.opencontainers.image.title="n8n-lens" \
      org.opencontainers.image.description="Debug n8n executions of any size and edit workflows, always inside a token budget." \
      org.opencontainers.image.source="https://github.com/n8n-lens/n8n-lens" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /usr/local/bin/n8n-lens /usr/local/bin/n8n-lens
# A number, so that `runAsNonRoot` can check it.
USER 65532:65532
ENTRYPOINT ["n8n-lens"]
