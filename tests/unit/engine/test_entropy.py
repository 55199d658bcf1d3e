"""What differs between two runs, and only that."""

import socket

from gpucloud.engine.runtime.entropy import SystemEntropy


def test_two_processes_of_one_host_have_two_names():
    first, second = SystemEntropy().instance, SystemEntropy().instance
    assert first != second
    assert first.startswith(f"{socket.gethostname()}_")


def test_numbers_differ_and_are_in_range():
    entropy = SystemEntropy()
    assert len({entropy.token_hex(8) for _ in range(50)}) == 50
    assert len(entropy.token_hex(8)) == 16
    numbers = [entropy.jitter() for _ in range(50)]
    assert len(set(numbers)) > 1
    assert all(0 <= number < 1 for number in numbers)
