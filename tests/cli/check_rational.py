"""Compares test_rational with Python's fractions on random quotients: check_rational.py PROGRAM."""
import fractions
import math
import random
import struct
import subprocess
import sys

FORMATS = {"f32": (24, -149), "f64": (53, -1074)}


def largest(name):
    bits = FORMATS[name][0]
    return float((2**bits - 1) * 2 ** ((128 if name == "f32" else 1024) - bits))


def nearest(value, name):
    """A fraction above 0 as the nearest number of the format, which may be beyond the largest."""
    bits, least = FORMATS[name]
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < fractions.Fraction(2) ** exponent
    exponent = max(exponent + 1 - bits, least)
    return round(value / fractions.Fraction(2) ** exponent) * fractions.Fraction(2) ** exponent  # half to even


def whole(digits):
    """Of up to so many digits: any, or a power of 2 or next to one."""
    bits = max(1, int(digits * 3.32))
    n = random.getrandbits(random.randint(1, bits))
    if random.random() < 0.3:
        n = max(0, 2 ** random.randrange(bits) + random.choice([-1, 0, 1]))
    return n


def halfway(name):
    """A number of the format plus half of its last bit, by a little more, less, or nothing."""
    bits, _ = FORMATS[name]
    middle = fractions.Fraction(2 * (2 ** (bits - 1) + random.getrandbits(bits - 1)) + 1)
    middle *= fractions.Fraction(2) ** random.randint(-1200 if name == "f64" else -180, 80)
    return middle + random.choice([-1, 0, 1]) * middle * fractions.Fraction(1, 10 ** random.randint(20, 90))


def quotient(name):
    if random.random() < 0.3:
        value = halfway(name)
        return value.numerator, value.denominator
    digits = random.choice([3, 16, 33, 60, 400])
    return whole(digits), max(1, whole(random.choice([3, 16, 33, digits])))


def check(numerator, denominator, name, answer):
    """Whether a line of the program is right."""
    number, kind = answer.split()
    value = fractions.Fraction(numerator, denominator)
    want = nearest(value, name) if value else fractions.Fraction(0)
    if want > fractions.Fraction(largest(name)):
        return kind == "large"
    got = fractions.Fraction(float.fromhex(number))
    if name == "f64":
        assert want == fractions.Fraction(numerator / denominator)  # Python's own, by another way
    elif want:
        assert math.isfinite(struct.unpack("f", struct.pack("f", float(want)))[0])
    return got == want and kind == ("exact" if want == value else "rounded")


random.seed(1)
cases = [(*quotient(name), name) for name in FORMATS for _ in range(4000)]
lines = "".join(f"{numerator} {denominator} {name}\n" for numerator, denominator, name in cases)
answers = subprocess.run([sys.argv[1], "--lines"], input=lines, capture_output=True, text=True, check=True).stdout
answers = answers.splitlines()
wrong = [(case, answer) for case, answer in zip(cases, answers) if not check(*case, answer)]
for case, answer in wrong[:10]:
    print("FAILED:", case, answer)
bad = len(wrong) + abs(len(cases) - len(answers))
print(f"{len(cases) - bad} passed, {bad} failed")
sys.exit(bad != 0)
