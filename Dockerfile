# The image holds one file, linked statically, and nothing else.
ARG RUST_IMAGE=docker.io/library/rust:1.95-slim

FROM ${RUST_IMAGE} AS build
WORKDIR /build
# With a target named, the flag is not for procedural macros, which cannot be static.
ENV CARGO_BUILD_TARGET=host-tuple \
    RUSTFLAGS="-C target-feature=+crt-static"

# The dependencies are a layer of their own, built for a stub that has every target of Cargo.toml.
COPY Cargo.toml Cargo.lock ./
RUN mkdir -p src benches tests/suite \
    && touch src/lib.rs benches/solver.rs benches/instructions.rs tests/suite/main.rs \
    && echo 'fn main() {}' >src/main.rs \
    && cargo build --locked --release --bins

COPY openapi.yaml ./
COPY assets assets
COPY src src
# Files keep their times on the way in; these have to be newer than the stub.
RUN touch src/lib.rs src/main.rs \
    && cargo build --locked --release --bins \
    && mv target/*/release/rotation-game /rotation-game

FROM scratch
COPY --from=build /rotation-game /rotation-game
USER 65532:65532
# The last has the allocator give large pieces back at once: half the memory where tables of patterns come and go.
ENV ROTATION_GAME_LISTEN=0.0.0.0:8080 \
    ROTATION_GAME_METRICS_LISTEN=0.0.0.0:9464 \
    MALLOC_MMAP_THRESHOLD_=1048576
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s CMD ["/rotation-game", "healthcheck"]
ENTRYPOINT ["/rotation-game"]

ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="rotation-game" \
      org.opencontainers.image.description="Exact, lexicographically smallest solutions of the Rotation Game (POJ 2286, UVA 1343)" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
