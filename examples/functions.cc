// SPDX-License-Identifier: Apache-2.0
// Prints how often each function of a program ran, in C++. Owners free objects, and errors are exceptions.
// None may pass through the library, so a function that it calls keeps its exception until the call is over.
//
//     functions CAPTURE PROGRAM [MOST]
//
// MOST is the number of instructions after which the program gives up.
#include <coretap/coretap.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// Deletes an object of the library with its own function.
template <auto Free> struct Freed {
    template <class T> void operator()(T *object) const { Free(object); }
};
template <class T, auto Free> using Owned = std::unique_ptr<T, Freed<Free>>;

using Context = Owned<ct_ctx, ct_ctx_free>;
using Capture = Owned<ct_capture, ct_capture_free>;
using Programs = Owned<ct_programs, ct_programs_free>;
using Session = Owned<ct_session, ct_session_free>;
using Cover = Owned<ct_cover, ct_cover_free>;
using Report = Owned<ct_cover_report, ct_cover_report_free>;
using Items = Owned<ct_cover_item, std::free>;

void check(const Context &ctx, int result)
{
    if (result < 0)
        throw std::runtime_error(std::string(ct_error_name(result)) + ": " + ct_ctx_error(ctx.get()));
}

// Calls a function that makes an object, with its last argument.
template <class Owner, class Make> Owner make(const Context &ctx, Make call)
{
    typename Owner::pointer object = nullptr;
    const int result = call(&object);
    Owner owner(object);
    check(ctx, result);
    return owner;
}

// Takes steps for the library, and counts instructions.
class Limit {
  public:
    explicit Limit(unsigned long long most) : most_(most) {}

    // Throws what was thrown while the library called take().
    void rethrow() const
    {
        if (thrown_)
            std::rethrow_exception(thrown_);
    }

    static int take(void *user, const ct_stream *, const ct_step_batch *batch) noexcept
    {
        auto *limit = static_cast<Limit *>(user);
        try {
            limit->add(batch);
            return CT_OK;
        } catch (...) {
            limit->thrown_ = std::current_exception();
            return -1000; // an own error (base.h), which ends the run
        }
    }

  private:
    void add(const ct_step_batch *batch)
    {
        std::uint32_t count = 0;
        const ct_node *nodes = ct_graph_nodes(batch->graph, &count);
        const ct_edge *edges = ct_graph_edges(batch->graph, &count);
        for (std::size_t i = 0; i < batch->count; i++)
            ran_ += nodes[edges[batch->edge[i]].from].n;
        if (most_ && ran_ > most_)
            throw std::length_error("more than " + std::to_string(most_) + " instructions ran");
    }

    unsigned long long most_, ran_ = 0;
    std::exception_ptr thrown_;
};

void print(const Context &ctx, ct_cover *cover, ct_program *program)
{
    std::uint32_t number = 0;
    ct_cover_item *items = nullptr;
    std::size_t count = 0;
    ct_cover_source source{};
    source.size = sizeof source;
    check(ctx, ct_program_memory(program, &source.memory));
    check(ctx, ct_program_symbols(program, &source.symbols));
    check(ctx, ct_program_lines(program, &source.lines));
    check(ctx, ct_cover_number(cover, program, &number));
    check(ctx, ct_cover_items(cover, number, CT_EDGES_ALL, &items, &count));
    const Items owned(items);
    const auto report = make<Report>(
        ctx, [&](auto out) { return ct_cover_report_new(ctx.get(), &source, items, count, out); });
    for (std::size_t i = 0; i < report->function_count; i++)
        std::printf("%s %llu\n", report->functions[i].name,
                    static_cast<unsigned long long>(report->functions[i].count));
}

void count_functions(const Context &ctx, const char *path, const char *elf, Limit &limit)
{
    const auto capture = make<Capture>(ctx, [&](auto out) { return ct_capture_open(ctx.get(), path, out); });
    const auto programs =
        make<Programs>(ctx, [&](auto out) { return ct_programs_new(ctx.get(), nullptr, out); });
    ct_program *program = nullptr;
    check(ctx, ct_programs_add(programs.get(), elf, nullptr, capture.get(), &program));
    check(ctx, ct_programs_add_capture(programs.get(), capture.get()));
    const auto cover = make<Cover>(ctx, [&](auto out) { return ct_cover_new(ctx.get(), out); });
    ct_session_options options{};
    options.size = sizeof options;
    options.programs = programs.get();
    options.user = &limit;
    options.steps = Limit::take;
    const auto session =
        make<Session>(ctx, [&](auto out) { return ct_session_new(ctx.get(), &options, out); });
    check(ctx, ct_session_add(session.get(), ct_cover_analysis(cover.get())));
    const int result = ct_session_run(session.get(), capture.get(), capture->buffers, capture->buffer_count);
    limit.rethrow();
    check(ctx, result);
    print(ctx, cover.get(), program);
}

} // namespace

int main(int argc, char **argv)
{
    const Context ctx(ct_ctx_new());
    try {
        if (argc < 3 || !ctx)
            throw std::runtime_error("usage: functions CAPTURE PROGRAM [MOST]");
        Limit limit(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
        count_functions(ctx, argv[1], argv[2], limit);
    } catch (const std::exception &error) {
        std::printf("refused: %s\n", error.what());
        return 1;
    }
    return 0;
}
