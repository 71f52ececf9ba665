# The worker and the built package as workerd modules. Paths are relative to this file.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "main")]
);

const main :Workerd.Worker = (
  compatibilityDate = "2025-09-01",
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "flash-sampling", esModule = embed "../../dist/workerd.js"),
    # The package's entry imports "./core.wasm".
    (name = "core.wasm", wasm = embed "../../dist/core.wasm")
  ]
);
