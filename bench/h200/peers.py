#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the CUDA sampler is compared with, measured through PyTorch on request, so that both sides take turns on one GPU.

    python3 peers.py [--dry]

One JSON object a line on stdin, one a line on stdout, and nothing else there; README.md describes both. --dry answers
with fixed numbers and needs neither PyTorch nor a GPU.
"""

import gc
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import traceback
from contextlib import contextmanager

SEED = 20240607
HIDDEN_INPUTS = 4        # different hidden states, which the calls of a graph take in turn
LOGIT_DEVIATION = 2.0
COPY_BYTES = 1 << 30
WARM_UP_CALLS = 3
WARM_UP_SECONDS = 0.03   # an idle GPU lowers its clocks

DTYPES = {"bf16": "bfloat16", "f16": "float16"}
MODES = ("default", "max-autotune-no-cudagraphs")
SMI_FIELDS = ("driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem", "power.draw",
              "power.limit", "temperature.gpu")
DRY_MS = {"gemm": 0.25, "gemm_f32": 0.26, "multinomial_compiled": 0.375, "race_compiled": 0.5, "copy": 0.5}


# ---- The peers: each builds a function of hidden states that makes one call.

def multinomial(hidden, weight):
    return (hidden @ weight.t()).float().softmax(-1).multinomial(1)


def race(hidden, weight):
    probs = (hidden @ weight.t()).float().softmax(-1)
    noise = probs.new_empty(probs.shape).exponential_()
    return (probs / noise).argmax(-1, keepdim=True)


def build_gemm(torch, weight, problem):
    logits = weight.new_empty(problem["B"], problem["V"])
    return lambda hidden: torch.matmul(hidden, weight.t(), out=logits)


def build_gemm_f32(torch, weight, problem):
    logits = weight.new_empty(problem["B"], problem["V"], dtype=torch.float32)
    return lambda hidden: torch.mm(hidden, weight.t(), torch.float32, out=logits)


def compiled(peer):
    def build(torch, weight, problem):
        call = torch.compile(peer, dynamic=False, mode=problem["mode"])
        return lambda hidden: call(hidden, weight)
    return build


BUILDERS = {
    "gemm": build_gemm,
    "gemm_f32": build_gemm_f32,
    "multinomial_compiled": compiled(multinomial),
    "race_compiled": compiled(race),
}


class CudaPeers:
    """Keeps the weights and the graphs of one shape until another is asked for."""

    def __init__(self):
        self.torch = torch = importlib.import_module("torch")
        torch.cuda.init()
        # The default stream cannot be captured. All work goes to another, so that calls warm up where they are captured.
        torch.cuda.set_stream(torch.cuda.Stream())
        torch.cuda.manual_seed(SEED)
        # Each shape is compiled for itself, and past this limit calls would silently no longer be compiled.
        importlib.import_module("torch._dynamo").config.recompile_limit = 200
        self.shape, self.weight, self.replays = None, None, {}

    def info(self):
        torch = self.torch
        properties = torch.cuda.get_device_properties(0)
        return {
            "device": properties.name,
            "multiprocessors": properties.multi_processor_count,
            "memoryBytes": properties.total_memory,
            "torch": torch.__version__,
            "triton": importlib.import_module("triton").__version__,
            "cuda": torch.version.cuda,
            "smi": query_smi(),
        }

    def measure(self, peer, problem):
        """The samples in ms a call, and whether they are of a graph."""
        key = (peer, *sorted((name, value) for name, value in problem.items() if name != "samples"))
        if peer != "copy":
            self.use_shape(problem)
        if key not in self.replays:
            self.replays[key] = self.replay_of(self.calls_of(peer, problem))
        replay, is_graph = self.replays[key]
        samples = self.time(replay, problem["samples"])
        return [ms / problem["replays"] for ms in samples], is_graph

    def use_shape(self, problem):
        shape = (problem["V"], problem["D"], problem["dtype"])
        if shape == self.shape:
            return
        self.shape, self.weight = None, None
        self.replays.clear()
        gc.collect()
        self.torch.cuda.empty_cache()
        self.weight = self.normal(shape[:2], shape[2], SEED).mul_(LOGIT_DEVIATION / problem["D"] ** 0.5)
        self.shape = shape

    def normal(self, size, dtype, seed):
        torch = self.torch
        generator = torch.Generator(device="cuda").manual_seed(seed)
        return torch.randn(size, generator=generator, device="cuda", dtype=getattr(torch, DTYPES[dtype]))

    def calls_of(self, peer, problem):
        """A list of functions, the calls of one replay."""
        if peer == "copy":
            source = self.torch.empty(COPY_BYTES // 4, dtype=self.torch.int32, device="cuda").random_()
            target = self.torch.empty_like(source)
            # A kernel: copies in a graph go through the copy engines, at two thirds of the rate.
            return [lambda: self.torch.bitwise_not(source, out=target)] * problem["replays"]
        call = BUILDERS[peer](self.torch, self.weight, problem)
        inputs = [self.normal((problem["B"], problem["D"]), problem["dtype"], SEED + 1 + i) for i in range(HIDDEN_INPUTS)]
        return [lambda hidden=inputs[i % HIDDEN_INPUTS]: call(hidden) for i in range(problem["replays"])]

    def replay_of(self, calls):
        """What makes all calls, and whether it is a graph."""
        for i in range(WARM_UP_CALLS):
            calls[i % len(calls)]()
        self.torch.cuda.synchronize()

        def make_calls():
            for call in calls:
                call()

        try:
            graph = self.capture(make_calls)
        except RuntimeError:
            traceback.print_exc()
            return make_calls, False

        # The graph knows addresses alone: the calls hold the tensors.
        def replay(_kept=calls):
            graph.replay()
        return replay, True

    def capture(self, make_calls):
        torch = self.torch
        # A wait for the device inside a capture would leave the random generator unusable: find it before.
        with self.waits_refused():
            make_calls()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            make_calls()
        return graph

    @contextmanager
    def waits_refused(self):
        self.torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            self.torch.cuda.set_sync_debug_mode("default")

    def time(self, replay, samples):
        """The ms of each replay. All are in the queue before the first ends, so no launch is waited for in between."""
        cuda = self.torch.cuda
        self.warm_up(replay)
        pairs = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(samples)]
        for start, end in pairs:
            start.record()
            replay()
            end.record()
        cuda.synchronize()
        return [start.elapsed_time(end) for start, end in pairs]

    def warm_up(self, replay):
        started, made = time.perf_counter(), 0
        while made < WARM_UP_CALLS or time.perf_counter() - started < WARM_UP_SECONDS:
            replay()
            self.torch.cuda.synchronize()
            made += 1


class DryPeers:
    """Fixed numbers, each sample a hundredth above the one before."""

    def info(self):
        return {"device": "none, dry run"}

    def measure(self, peer, problem):
        return [DRY_MS[peer] * (1 + i / 100) for i in range(problem["samples"])], True


def query_smi():
    """The first GPU's driver, clocks, power and temperature; None where there is no nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--query-gpu=" + ",".join(SMI_FIELDS), "--format=csv,noheader"]
    found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    if found.returncode != 0:
        return None
    return dict(zip(SMI_FIELDS, (value.strip() for value in found.stdout.splitlines()[0].split(","))))


# ---- The protocol.

def whole_number(request, name, default=None):
    value = request.get(name, default)
    if type(value) is not int or value < 1:
        raise TypeError('"%s" expected a whole number of at least 1, got %s' % (name, json.dumps(value)))
    return value


def one_of(request, name, choices, default=None):
    value = request.get(name, default)
    if value not in choices:
        raise TypeError('"%s" expected one of %s, got %s' % (name, ", ".join(choices), json.dumps(value)))
    return value


def problem_of(request, peer):
    problem = {"replays": whole_number(request, "replays", 20), "samples": whole_number(request, "samples", 15)}
    if peer == "copy":
        return problem
    for name in ("D", "V", "B"):
        problem[name] = whole_number(request, name)
    problem["dtype"] = one_of(request, "dtype", tuple(DTYPES), "bf16")
    if peer.endswith("_compiled"):
        problem["mode"] = one_of(request, "mode", MODES, "default")
    return problem


def answer(request, peers):
    do = one_of(request, "do", ("info", "quit", *DRY_MS))
    if do == "quit":
        return {"quit": True}
    if do == "info":
        return {"info": peers.info()}
    problem = problem_of(request, do)
    samples, is_graph = peers.measure(do, problem)
    ms = statistics.median(samples)
    reply = {"ms": ms, "all": samples, "graph": is_graph}
    if do == "copy":
        reply["GBs"] = 2 * COPY_BYTES / (ms * 1e6)
    return reply


def serve(requests, write, peers):
    """Answers each line until one asks to quit."""
    for line in requests:
        request, reply = None, None
        try:
            request = json.loads(line)
            if type(request) is not dict:
                raise TypeError("a request expected an object, got %s" % line.strip())
            reply = answer(request, peers)
        except Exception as error:
            traceback.print_exc()
            reply = {"error": "%s: %s" % (type(error).__name__, error)}
        write(json.dumps({"id": request.get("id") if type(request) is dict else None, **reply}) + "\n")
        if "quit" in reply:
            return


def take_over_streams():
    """Keeps stdin and stdout for the protocol: compilers and libraries get no input, and print to stderr."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def main(arguments):
    if arguments not in ([], ["--dry"]):
        print("usage: python3 peers.py [--dry]", file=sys.stderr)
        return 2
    requests, answers = take_over_streams()

    def write(line):
        answers.write(line)
        answers.flush()

    # readline, because iteration over a file may hold lines back.
    serve(iter(requests.readline, ""), write, DryPeers() if arguments == ["--dry"] else CudaPeers())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
