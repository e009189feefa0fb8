#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The three properties, programmed in Python."""
import sys


def main():
    is_open = False
    begun = worst = None
    twice = slow = 0
    for line in sys.stdin:
        text, name = line.split(": ")
        if name == "call\n":
            begun = int(text)
            if is_open:
                twice += 1
                if twice % 10000 == 0:
                    print(f"{text}: twice = {twice}")
            is_open = True
        elif name == "ret\n":
            is_open = False
            if begun is None:
                continue
            cost = int(text) - begun
            if cost > 40:
                slow += 1
                if slow % 10000 == 0:
                    print(f"{text}: slow = {slow}")
            if worst is None or cost > worst:
                worst = cost
                print(f"{text}: worst = {worst}")


main()
