// SPDX-License-Identifier: Apache-2.0
// A program of C++ with what readers of coverage have to tell apart: functions with several instances,
// functions in functions, lines in a header, and parts that do not run.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace shapes {
struct Shape {
    virtual ~Shape() = default;
    virtual int area() const { return 0; }
};
struct Square : Shape {
    int side;
    explicit Square(int s) : side(s) {}
    int area() const override { return side * side; }
};
template <typename T> T largest(T a, T b)
{
    if (a < b)
        return b;
    return a;
}
}

static int risky(int n)
{
    if (n > 2)
        throw std::runtime_error("too much");
    return n;
}

static int attempt(int n)
{
    try {
        return risky(n);
    } catch (const std::exception &) {
        return -1;
    }
}

static int lambdas(const std::vector<int> &all)
{
    auto never = [](int n) { return n * 3; };
    int sum = 0;
    for (int n : all)
        sum += n;
    std::vector<int> sorted = all;
    std::sort(sorted.begin(), sorted.end(), [](int a, int b) {
        return a > b;
    });
    if (sorted[0] > 100 && sum > 1000)
        sum += never(sum);
    return sum + sorted[0];
}

int main()
{
    int sum = shapes::largest(1, 2) + static_cast<int>(shapes::largest(2.5, 1.5));
    shapes::Square square(3);
    const shapes::Shape &shape = square;
    for (int i = 0; i < 5; i++)
        sum += attempt(i) + shape.area();
    std::printf("%d\n", sum + lambdas({4, 1, 7}));
    return 0;
}
