#include "subsets/path_counts.hpp"

#include <algorithm>

namespace mnlearn {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{4} << 20, kBytesPerRow = 8;  // for planes and paths
// Nanoseconds by reduce: a row, once and for each y; whatever the rows, a question.
constexpr double kRow = 1.5, kRowOfY = 1.0, kQuestion = 1000.0;

AlignedWords room_for(AlignedWords words, std::size_t& room, std::size_t needed) {
    if (room >= needed) return words;
    room = needed;
    return unset_words(needed);
}

}  // namespace

PathCounts::PathCounts(const Store& store)
    : store_(store),
      level_(store.level()),
      few_distinct_(&store.distinct() != &store),
      words_((store.planes().words + 7) / 8 * 8),
      all_rows_(aligned_words(words_)),
      place_(store.n_variables(), 0) {
    const std::size_t n = store.n_records();
    for (std::size_t w = 0; 64 * w < n; ++w)
        all_rows_[w] = n - 64 * w >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - 64 * w)) - 1;
}

void PathCounts::restart(std::int32_t x) {
    if (x == x_) return;
    for (std::size_t k = 0; k < n_loaded_; ++k) place_[static_cast<std::size_t>(variables_[k].v)] = 0;
    n_loaded_ = loaded_words_ = depth_ = 0;
    ++version_;
    x_ = x;
    card_x_ = column_of(store_, x).card;
    if (steps_.empty()) steps_.emplace_back();
    steps_[0].n_sets = 0;  // made on first use: x may have no planes
}

bool PathCounts::serves(std::span<const std::int32_t> z, std::span<const std::int32_t> ys) const {
    const auto has = [&](std::int32_t v) { return store_.has_planes(static_cast<std::size_t>(v)); };
    if (z.empty() || !has(x_) || !std::all_of(z.begin(), z.end(), has) || !std::all_of(ys.begin(), ys.end(), has))
        return false;
    if (few_distinct_ && distinct_rows_pay(store_, x_, Candidates(store_, ys), z)) return false;
    const auto states = [&](std::int32_t v) { return static_cast<double>(column_of(store_, v).card - 1); };
    double sets = card_x_, counted = 0.0, needed = 0.0;
    for (const std::int32_t v : z.first(z.size() - 1)) sets *= states(v) + 1.0;
    for (const std::int32_t y : ys) counted += states(y);
    for (const std::int32_t v : z) needed += states(v);
    const double words = static_cast<double>(words_), rows = static_cast<double>(store_.n_records());
    const double memory = 8.0 * (static_cast<double>(loaded_words_) + words * (2.0 * sets + counted + needed));
    if (memory > std::max<double>(kLeastBytes, kBytesPerRow * rows)) return false;
    const double nanoseconds = words * sets * (states(z.back()) * counted * level_.tree_word + level_.costs.split_word);
    return nanoseconds < rows * (kRow + kRowOfY * static_cast<double>(ys.size())) + kQuestion;
}

PathCounts::Variable& PathCounts::loaded(std::int32_t v) {
    std::uint32_t& place = place_[static_cast<std::size_t>(v)];
    if (place) return variables_[place - 1];
    if (n_loaded_ == variables_.size()) variables_.emplace_back();
    place = static_cast<std::uint32_t>(++n_loaded_);
    Variable& variable = variables_[place - 1];
    const Planes& planes = store_.planes();
    variable.v = v;
    variable.known_for = 0;
    variable.n_planes = column_of(store_, v).card - 1;
    variable.planes = room_for(std::move(variable.planes), variable.room, variable.n_planes * words_);
    loaded_words_ += variable.n_planes * words_;
    for (std::size_t b = 0; b < variable.n_planes; ++b) {
        const std::size_t plane = store_.first_plane(v) + b;
        const std::uint64_t* from = planes.bits + (plane / kLanes) * planes.words * kLanes + plane % kLanes;
        std::uint64_t* to = variable.planes.get() + b * words_;
        for (std::size_t w = 0; w < planes.words; ++w) to[w] = from[w * kLanes];
        std::fill(to + planes.words, to + words_, std::uint64_t{0});
    }
    return variable;
}

// Each set into its parts, one for each state; what is left after all others is the last.
void PathCounts::split(const Step& from, const Variable& by, Step& to) const {
    const std::size_t card = by.n_planes + 1;
    to.v = by.v;
    to.n_sets = from.n_sets * card;
    to.sets = room_for(std::move(to.sets), to.room, to.n_sets * words_);
    for (std::size_t set = 0; set < from.n_sets; ++set) {
        const std::size_t configuration = set / card_x_, a = set % card_x_;
        const auto part = [&](std::size_t b) {
            return to.sets.get() + ((configuration * card + b) * card_x_ + a) * words_;
        };
        const std::uint64_t* whole = from.sets.get() + set * words_;
        for (std::size_t b = 0; b < by.n_planes; ++b) {
            level_.split_set({whole, by.planes.get() + b * words_, words_, part(b), part(by.n_planes)});
            whole = part(by.n_planes);
        }
    }
}

// The rows by their state of x: its planes, and what they leave.
void PathCounts::start() {
    Step& first = steps_[0];
    const Variable& x = loaded(x_);
    first.n_sets = card_x_;
    first.sets = room_for(std::move(first.sets), first.room, first.n_sets * words_);
    std::copy_n(x.planes.get(), x.n_planes * words_, first.sets.get());
    std::uint64_t* rest = first.sets.get() + x.n_planes * words_;
    std::copy_n(all_rows_.get(), words_, rest);
    for (std::size_t b = 0; b < x.n_planes; ++b)
        for (std::size_t w = 0; w < words_; ++w) rest[w] &= ~x.planes[b * words_ + w];
}

void PathCounts::go_to(std::span<const std::int32_t> path) {
    if (steps_[0].n_sets == 0) start();
    std::size_t same = 0;
    while (same < depth_ && same < path.size() && steps_[same + 1].v == path[same]) ++same;
    if (same == depth_ && same == path.size()) return;
    ++version_;
    for (depth_ = same; depth_ < path.size(); ++depth_) {
        if (steps_.size() == depth_ + 1) steps_.emplace_back();
        split(steps_[depth_], loaded(path[depth_]), steps_[depth_ + 1]);
    }
}

void PathCounts::count_sets() {
    if (sizes_known_for_ == version_) return;
    const Step& end = steps_[depth_];
    set_sizes_.resize(end.n_sets);
    for (std::size_t set = 0; set < end.n_sets; ++set)
        set_sizes_[set] = static_cast<std::uint32_t>(level_.count_bits(end.sets.get() + set * words_, words_));
    sizes_known_for_ = version_;
}

const PathCounts::Numbers& PathCounts::margin(Variable& variable) {
    if (variable.known_for == version_) return variable.margin;
    const Step& end = steps_[depth_];
    variable.margin.resize(end.n_sets * variable.n_planes);
    others_.clear();
    for (std::size_t b = 0; b < variable.n_planes; ++b) others_.push_back(variable.planes.get() + b * words_);
    level_.count_intersections(
        {end.sets.get(), end.n_sets, words_, all_rows_.get(), others_.data(), others_.size(), variable.margin.data()});
    variable.known_for = version_;
    return variable.margin;
}

void PathCounts::count(std::span<const std::int32_t> z, std::span<const std::int32_t> ys) {
    go_to(z.first(z.size() - 1));
    count_sets();
    Variable& last = loaded(z.back());
    margin(last);
    for (const std::int32_t y : ys) margin(loaded(y));
    others_.clear();
    for (const std::int32_t y : ys)
        for (std::size_t b = 0; b < loaded(y).n_planes; ++b) others_.push_back(loaded(y).planes.get() + b * words_);
    const Step& end = steps_[depth_];
    width_ = others_.size();
    shared_.resize(last.n_planes * end.n_sets * width_);
    for (std::size_t b = 0; b < last.n_planes; ++b)
        level_.count_intersections({end.sets.get(), end.n_sets, words_, last.planes.get() + b * words_, others_.data(),
                                    width_, shared_.data() + b * end.n_sets * width_});
    place_strata(last);
    counts_.resize(sizes_.size() * width_);
    tables_.clear();
    std::size_t column = 0;
    for (const std::int32_t y : ys) {
        place_table(loaded(y), last.n_planes, column);
        column += loaded(y).n_planes;
    }
}

// Those that occur, and the sizes of their sets.
void PathCounts::place_strata(const Variable& last) {
    const std::size_t n_planes = last.n_planes, n_configurations = set_sizes_.size() / card_x_;
    kept_.clear();
    sizes_.resize(set_sizes_.size() * (n_planes + 1));
    std::size_t end = 0;
    for (std::size_t c = 0; c < n_configurations; ++c)
        for (std::size_t b = 0; b <= n_planes; ++b) {
            std::uint32_t any = 0;
            for (std::size_t a = 0; a < card_x_; ++a) {
                const std::size_t set = c * card_x_ + a;
                const std::uint32_t* margin = last.margin.data() + set * n_planes;
                std::uint32_t size = b < n_planes ? margin[b] : set_sizes_[set];
                for (std::size_t other = 0; b == n_planes && other < n_planes; ++other) size -= margin[other];
                sizes_[end + a] = size;
                any |= size;
            }
            if (!any) continue;
            kept_.push_back(static_cast<std::uint32_t>(c * (n_planes + 1) + b));
            end += card_x_;
        }
    sizes_.resize(end);
}

void PathCounts::place_table(const Variable& y, std::size_t n_last, std::size_t column) {
    const std::size_t n_sets = set_sizes_.size(), width = y.n_planes;
    std::uint32_t* to = counts_.data() + sizes_.size() * column;
    tables_.push_back({sizes_.size() * column, static_cast<std::uint32_t>(width)});
    for (const std::uint32_t stratum : kept_) {
        const std::size_t c = stratum / (n_last + 1), b = stratum % (n_last + 1);
        for (std::size_t set = c * card_x_; set < (c + 1) * card_x_; ++set)
            for (std::size_t t = 0; t < width; ++t, ++to) {
                const std::uint32_t* shared = shared_.data() + set * width_ + column + t;
                *to = b < n_last ? shared[b * n_sets * width_] : y.margin[set * width + t];
                for (std::size_t other = 0; b == n_last && other < n_last; ++other)
                    *to -= shared[other * n_sets * width_];
            }
    }
}

PairTables PathCounts::table(std::size_t place) const {
    const Table& table = tables_[place];
    return {card_x_, table.width, kept_.size(), sizes_.data(), counts_.data() + table.begin};
}

}  // namespace mnlearn
