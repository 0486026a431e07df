#include "scan/refined_lists.hpp"

#include <algorithm>
#include <iterator>
#include <new>

#include "scan/row_lists.hpp"

namespace mnlearn {

namespace {

// Refining makes room for every part that might have rows, and some have none: it is held all the same.
template <class T> std::size_t bytes_of(const std::vector<T>& held) { return sizeof(T) * held.capacity(); }

}  // namespace

std::size_t KeptLists::bytes() const {
    const SetLists& lists = sorted.lists;
    return sizeof(KeptLists) + bytes_of(z) + lists.rows.bytes() + lists.short_rows.bytes() + bytes_of(lists.x.sizes) +
           bytes_of(lists.begin) + bytes_of(lists.padded) + bytes_of(sorted.strata.sizes) + bytes_of(sorted.numbers);
}

namespace {

// The number of a configuration is (before * card + state) * after + rest: `after` configurations of what stands after
// the variable among the ascending members of z.
std::size_t configurations_after(const Store& store, std::span<const std::int32_t> z, std::int32_t variable) {
    std::size_t after = 1;
    for (auto v = std::upper_bound(z.begin(), z.end(), variable); v != z.end(); ++v) after *= column_of(store, *v).card;
    return after;
}

// Strata [first, last) at a time that agree in what stands before.
template <class Visit> void for_groups(std::span<const std::uint32_t> numbers, std::size_t width, Visit visit) {
    for (std::size_t first = 0, last = 0; first < numbers.size(); first = last) {
        const std::size_t before = numbers[first] / width;
        while (last < numbers.size() && numbers[last] / width == before) ++last;
        visit(first, last, before);
    }
}

// Lists of the same x, without any yet; soon there will be so many times the strata of these.
SortedLists empty_lists(const SortedLists& like, std::size_t times) {
    const std::size_t n_strata = times * like.strata.count, n_sets = n_strata * like.lists.x.card_x;
    SortedLists lists{{0, {}, {}}, {{like.lists.x.card_x, 0, false, {}}, {}, {}, {}, {}}, {}};
    lists.strata.sizes.reserve(n_strata);
    lists.numbers.reserve(n_strata);
    lists.lists.x.sizes.reserve(n_sets);
    lists.lists.begin.reserve(n_sets);
    lists.lists.padded.reserve(n_sets);
    return lists;
}

void add_stratum(SortedLists& to, std::size_t number, std::int64_t size) {
    to.strata.sizes.push_back(size);
    to.numbers.push_back(static_cast<std::uint32_t>(number));
    ++to.strata.count, ++to.lists.x.n_strata;
}

void add_set(SetLists& to, std::uint32_t begin, std::int64_t size) {
    to.x.sizes.push_back(size);
    to.begin.push_back(begin);
    to.padded.push_back(padded(size));
}

// The planes of a variable one after the other, each with kRefineWindow words to spare.
void copy_planes(const Store& store, std::int32_t variable, std::uint64_t* to) {
    const Planes& planes = store.planes();
    const RowBits& rows = store.row_bits();  // has them plane by plane, maybe
    for (std::size_t a = 0; a + 1 < column_of(store, variable).card; ++a, to += planes.words + kRefineWindow) {
        const std::size_t plane = store.first_plane(variable) + a;
        const std::uint64_t* bits = planes.bits + (plane / kLanes) * planes.words * kLanes + plane % kLanes;
        if (const std::uint64_t* whole = rows.plane(plane, planes.words))
            std::copy_n(whole, planes.words, to);
        else
            for (std::size_t w = 0; w < planes.words; ++w) to[w] = bits[w * kLanes];
    }
}

// Codes of one byte, whatever the column has: a variable with planes has few states.
const std::uint8_t* narrow_codes(const Store& store, std::int32_t variable, Buffer<std::uint8_t>& room) {
    const Column& codes = column_of(store, variable);
    if (codes.narrow) return codes.narrow;
    room = {store.pool(), store.n_records()};
    std::transform(codes.wide, codes.wide + store.n_records(), room.get(),
                   [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
    return room.get();
}

// Where each part of each list is: [list * card + state].
struct Parts {
    explicit Parts(std::size_t n) : places(2 * n), starts(places.data()), ends(places.data() + n) {}
    std::uint32_t size(std::size_t part) const { return ends[part] - starts[part]; }

    std::vector<std::uint32_t> places;
    std::uint32_t *starts, *ends;
};

template <class Row, class Refine>
Parts part_lists(const Store& store, const SetLists& lists, std::int32_t by, Refine refine, SetLists& to) {
    const std::uint32_t card = column_of(store, by).card;
    const std::size_t n_lists = lists.x.n_sets(), n_rows = store.n_records();
    const std::size_t stride = store.planes().words + kRefineWindow, plane_words = (card - 1) * stride;
    const auto longest = static_cast<std::size_t>(*std::max_element(lists.x.sizes.begin(), lists.x.sizes.end()));
    const std::size_t scratch_bytes = (card - 1) * (longest + kRefineSpill) * sizeof(Row);
    const Buffer<std::uint64_t> planes(store.pool(), plane_words + scratch_bytes / 8 + 1);
    copy_planes(store, by, planes.get());
    Buffer<std::uint8_t> narrowed;
    Parts parts(n_lists * card);
    Buffer<Row>& room = buffer_of<Row>(to) =
        buffer_for_rows<Row>(store, n_rows + n_lists * card * (kListStep - 1) + kRefineSpill, true);
    refine({rows_of<Row>(lists), lists.begin.data(), lists.x.sizes.data(), n_lists, n_rows,
            narrow_codes(store, by, narrowed), planes.get(), stride, card, static_cast<Row>(n_rows),
            reinterpret_cast<Row*>(planes.get() + plane_words), room.get(), parts.starts, parts.ends});
    return parts;
}

// The parts in the order of their configurations: within what stands before, state by state.
void order_parts(const SortedLists& from, const Parts& parts, std::size_t card, std::size_t after, SortedLists& to) {
    const std::size_t card_x = from.lists.x.card_x;
    for_groups(from.numbers, after, [&](std::size_t first, std::size_t last, std::size_t before) {
        for (std::size_t a = 0; a < card; ++a)
            for (std::size_t s = first; s < last; ++s) {
                std::int64_t all = 0;
                for (std::size_t part = s * card_x * card + a, c = 0; c < card_x; ++c, part += card)
                    all += parts.size(part);
                if (all == 0) continue;
                for (std::size_t part = s * card_x * card + a, c = 0; c < card_x; ++c, part += card)
                    add_set(to.lists, parts.starts[part], parts.size(part));
                add_stratum(to, (before * card + a) * after + from.numbers[s] % after, all);
            }
    });
}

// Appends lists, each joined from those of several strata.
template <class Row> class Joiner {
public:
    Joiner(const Store& store, const SetLists& from, SortedLists& to)
        : from_(from), to_(to), empty_(static_cast<Row>(store.n_records())) {
        const std::size_t most = store.n_records() + from_.x.n_sets() * (kListStep - 1) + kListRoom;
        rows_ = next_ = (buffer_of<Row>(to.lists) = buffer_for_rows<Row>(store, most, true)).get();
    }

    // These strata become one.
    void join(std::span<const std::size_t> strata, std::size_t number) {
        std::int64_t all = 0;
        for (std::size_t c = 0; c < from_.x.card_x; ++c) {
            Row* const begin = next_;
            for (const std::size_t s : strata) append(s * from_.x.card_x + c);
            const std::int64_t size = next_ - begin;
            std::fill_n(next_, kListStep, empty_);
            next_ = begin + padded(size);
            add_set(to_.lists, static_cast<std::uint32_t>(begin - rows_), size);
            all += size;
        }
        add_stratum(to_, number, all);
    }

private:
    void append(std::size_t set) {  // whole vectors: most lists are short
        constexpr std::size_t kStep = kListRoom / 2;
        const auto size = static_cast<std::size_t>(from_.x.sizes[set]);
        const Row* rows = rows_of<Row>(from_) + from_.begin[set];
        for (std::size_t k = 0; k < size; k += kStep) std::copy_n(rows + k, kStep, next_ + k);
        next_ += size;
    }

    const SetLists& from_;
    SortedLists& to_;
    Row empty_, *rows_, *next_;
};

// Strata of one state of the variable that leaves, in the order of what stands after it.
struct Run {
    std::size_t next, end;
};

// Within what stands before, the runs of all states are merged.
template <class Row>
void join_strata(const Store& store, const SortedLists& from, std::size_t card, std::size_t after, SortedLists& to) {
    Joiner<Row> joiner(store, from.lists, to);
    const std::vector<std::uint32_t>& numbers = from.numbers;
    std::vector<Run> runs;
    std::vector<std::size_t> together;
    for_groups(numbers, card * after, [&](std::size_t first, std::size_t last, std::size_t before) {
        runs.clear();
        for_groups(
            std::span(numbers).subspan(first, last - first), after,
            [&](std::size_t begin, std::size_t end, std::size_t) { runs.push_back({first + begin, first + end}); });
        for (;;) {
            std::size_t least = after;
            for (const Run& run : runs)
                if (run.next < run.end) least = std::min(least, numbers[run.next] % after);
            if (least == after) return;
            together.clear();
            for (Run& run : runs)
                if (run.next < run.end && numbers[run.next] % after == least) together.push_back(run.next++);
            joiner.join(together, before * after + least);
        }
    });
}

}  // namespace

KeptLists grown(const Store& store, const KeptLists& from, std::int32_t joins) {
    const std::size_t card = column_of(store, joins).card;
    KeptLists result{from.x, from.z, empty_lists(from.sorted, card)};
    result.z.insert(std::upper_bound(result.z.begin(), result.z.end(), joins), joins);
    const SetLists& lists = from.sorted.lists;
    SetLists& to = result.sorted.lists;
    const Parts parts = lists.short_rows.get()
                            ? part_lists<std::uint16_t>(store, lists, joins, store.level().refine_short, to)
                            : part_lists<std::uint32_t>(store, lists, joins, store.level().refine_long, to);
    order_parts(from.sorted, parts, card, configurations_after(store, from.z, joins), result.sorted);
    to.left_over = set_left_over(to.x);
    return result;
}

KeptLists shrunk(const Store& store, const KeptLists& from, std::int32_t leaves) {
    KeptLists result{from.x, from.z, empty_lists(from.sorted, 1)};
    std::erase(result.z, leaves);
    const std::size_t card = column_of(store, leaves).card, after = configurations_after(store, from.z, leaves);
    if (from.sorted.lists.short_rows.get())
        join_strata<std::uint16_t>(store, from.sorted, card, after, result.sorted);
    else
        join_strata<std::uint32_t>(store, from.sorted, card, after, result.sorted);
    result.sorted.lists.left_over = set_left_over(result.sorted.lists.x);
    return result;
}

ListsInUse::ListsInUse(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source)
    : store_(store), always_(store.forced() != CountingMethod::any) {
    ListCache& cache = store.lists();
    keep_ = store.keeps_lists();
    if (keep_) lists_ = cache.take(x);
    if (lists_ && refine(x, z, source)) return;
    keep_ = keep_ && (always_ || keeping_pays(store, x, z, source)) && cache.wanted();
    const bool from_planes = source == Source::lists;
    lists_ = std::make_unique<KeptLists>(
        KeptLists{x,
                  {z.begin(), z.end()},
                  from_planes ? lists_from_planes(store, x, z, keep_) : lists_from_keys(store, x, z, keep_)});
    if (keep_) cache.count(&ListCache::Tally::made);
}

ListsInUse::~ListsInUse() {
    try {
        if (keep_ && lists_) store_.lists().give_back(std::move(lists_));
    } catch (const std::bad_alloc&) {  // no memory: nothing is kept
    }
}

// Those that leave first: the fewer sets, the sooner are they parted. False where making new ones is sooner.
bool ListsInUse::refine(std::int32_t x, std::span<const std::int32_t> z, Source source) {
    std::vector<std::int32_t> leave, join;
    std::ranges::set_difference(lists_->z, z, std::back_inserter(leave));
    std::ranges::set_difference(z, lists_->z, std::back_inserter(join));
    if (leave.empty() && join.empty()) {
        store_.lists().count(&ListCache::Tally::found);
        return true;
    }
    if (!always_ && !refining_pays(store_, x, z, source, leave, join)) return false;
    for (const std::int32_t v : leave) *lists_ = shrunk(store_, *lists_, v);
    for (const std::int32_t v : join) *lists_ = grown(store_, *lists_, v);
    store_.lists().count(&ListCache::Tally::refined);
    return true;
}

}  // namespace mnlearn
