"""bf16 and e4m3 in numpy, which has neither: arrays of their bits."""
import numpy as np


def bf16(x):
    """Nearest even; no NaNs."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _e4m3(b):
    sign, exponent, mantissa = (-1.0) ** (b >> 7), b >> 3 & 15, b & 7
    if exponent == 15 and mantissa == 7:
        return float("nan")
    return sign * (2.0 ** (exponent - 7) * (1 + mantissa / 8) if exponent else 2.0**-6 * mantissa / 8)


E4M3 = np.array([_e4m3(b) for b in range(256)], np.float32)


def from_e4m3(bits):
    return E4M3[bits]


def random_e4m3(rng, shape):
    """Finite values of magnitude below 2: exponents are not far apart."""
    return (rng.integers(0, 64, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
