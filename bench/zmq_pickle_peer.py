#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes float16 arrays from one Python process to another: pickle over ZeroMQ.

    zmq_pickle_peer.py PROTOCOL GAP_US BYTES COUNT [BYTES COUNT ...]

Prints "BYTES P50_US P99_US" for each size: the time from before pickle.dumps until
pickle.loads has returned in the other process, both on CLOCK_MONOTONIC.
"""
import multiprocessing
import pickle
import sys
import tempfile
import time

import numpy
import zmq

WARM_UP = 20


def serve(address, rounds):
    socket = zmq.Context().socket(zmq.PAIR)
    socket.connect(address)
    for _ in range(rounds):
        number, array = pickle.loads(socket.recv())
        arrived = time.monotonic_ns()
        socket.send(pickle.dumps((number, arrived, int(array.view("u2")[-1]))))
    socket.recv()


def measure(socket, protocol, gap_us, size, count):
    array = numpy.random.default_rng(1).random(size // 2).astype("f2")
    spans = []
    for i in range(WARM_UP + count):
        array.view("u2")[-1] = i % 1000
        time.sleep(gap_us / 1e6)
        start = time.monotonic_ns()
        socket.send(pickle.dumps((i, array), protocol))
        number, arrived, last = pickle.loads(socket.recv())
        assert number == i and last == i % 1000, "the wrong array arrived"
        spans.append((arrived - start) / 1e3)
    return numpy.percentile(spans[WARM_UP:], [50, 99])


def main():
    protocol = int(sys.argv[1])
    gap_us = float(sys.argv[2])
    numbers = [int(x) for x in sys.argv[3:]]
    cases = list(zip(numbers[::2], numbers[1::2]))
    with tempfile.TemporaryDirectory() as folder:
        address = f"ipc://{folder}/peer"
        rounds = sum(count + WARM_UP for _, count in cases)
        other = multiprocessing.Process(target=serve, args=(address, rounds),
                                        daemon=True)
        other.start()
        socket = zmq.Context().socket(zmq.PAIR)
        socket.bind(address)
        for size, count in cases:
            p50, p99 = measure(socket, protocol, gap_us, size, count)
            print(f"{size} {p50:.1f} {p99:.1f}", flush=True)
        socket.send(b"end")
        other.join()


if __name__ == "__main__":
    main()
