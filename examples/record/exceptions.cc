/* SPDX-License-Identifier: Apache-2.0 */
// C++ exceptions: thrown through frames, caught by type, thrown again; virtual calls and a sort besides.
//
//   exceptions [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int round) const = 0;
};

struct Square : Shape {
    int area(int round) const override
    {
        if (round % 7 == 0)
            throw std::runtime_error("square " + std::to_string(round));
        return round * round;
    }
};

struct Line : Shape {
    int area(int round) const override
    {
        if (round % 5 == 0)
            throw round;
        return 0;
    }
};

static int measure(const std::vector<Shape *> &shapes, int round)
{
    std::vector<int> areas;
    for (const Shape *shape : shapes) {
        try {
            areas.push_back(shape->area(round));
        } catch (int which) {
            areas.push_back(which);
            if (which % 10 == 0)
                throw;
        }
    }
    std::sort(areas.begin(), areas.end());
    return areas.back();
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    Square square;
    Line line;
    const std::vector<Shape *> shapes = {&square, &line, &square};
    long sum = 0;
    int errors = 0, numbers = 0;
    for (int round = 1; round <= rounds; round++) {
        try {
            sum += measure(shapes, round);
        } catch (const std::exception &error) {
            errors++;
        } catch (int) {
            numbers++;
        }
    }
    std::printf("%ld %d %d\n", sum, errors, numbers);
    return 0;
}
