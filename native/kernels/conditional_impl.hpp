// Kernels of log-linear conditionals, compiled once for each instruction set: plain loops over eight lanes.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#include <cmath>
#include <cstring>

#include "kernels/conditional.hpp"
#include "kernels/elementary.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace conditional {

using D = Lanes<8>::Doubles;
constexpr double kRootTwo = 1.41421356237309504880;

MNLEARN_INLINE inline D load(const double* from) {
    D lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
MNLEARN_INLINE inline void store(double* to, D lanes) { std::memcpy(to, &lanes, sizeof lanes); }
MNLEARN_INLINE inline void add_to(double* to, D lanes) { store(to, load(to) + lanes); }
MNLEARN_INLINE inline D all(double number) { return D{} + number; }
MNLEARN_INLINE inline double sum_of(D v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
MNLEARN_INLINE inline double largest_of(D v) {
    double largest = v[0];
    for (int k = 1; k < 8; ++k) largest = v[k] > largest ? v[k] : largest;
    return largest;
}

// ---- a binary x

double binary_posterior(const BinaryGroups& g, const double* weights, double* first, double* second) {
    D height = {};
    const D zero = {}, one = all(1.0);
    for (std::size_t u = 0; u < g.n_groups; u += 8) {
        D field = {};
        for (std::size_t q = 0; q < g.n_features; ++q) field += load(g.features + q * g.n_groups + u) * weights[q];
        const D margin = field * kRootTwo, size = margin < zero ? -margin : margin, small = exp_of_minus<8>(size);
        const D n0 = load(g.zeros + u), n1 = load(g.ones + u), whole = one + small;
        store(first + u, (margin < zero ? small : one) / whole);
        store(second + u, (margin < zero ? one : small) / whole);
        height -= (n0 + n1) * log_of_one_plus<8>(small) + size * (margin < zero ? n0 : n1);
    }
    return sum_of(height);
}

// The products of row a with up to four rows b: four sums, so that one addition need not wait for the last.
template <int ROWS>
MNLEARN_INLINE inline void dot_rows(const double* a, const double* b, std::size_t stride, std::size_t size,
                                    double* out) {
    D sums[ROWS] = {};
    for (std::size_t u = 0; u < size; u += 8) {
        const D mine = load(a + u);
        for (int k = 0; k < ROWS; ++k) sums[k] += mine * load(b + static_cast<std::size_t>(k) * stride + u);
    }
    for (int k = 0; k < ROWS; ++k) out[k] = sum_of(sums[k]);
}

void binary_gradient(const BinaryGroups& g, const double* first, const double* second, double* surplus,
                     double* gradient) {
    const std::size_t size = g.n_groups, n = g.n_features;
    for (std::size_t u = 0; u < size; u += 8) {
        const D n0 = load(g.zeros + u), n1 = load(g.ones + u);
        store(surplus + u, (n0 * load(second + u) - n1 * load(first + u)) * kRootTwo);
    }
    std::size_t q = 0;
    for (; q + 4 <= n; q += 4) dot_rows<4>(surplus, g.features + q * size, size, size, gradient + q);
    for (; q < n; ++q) dot_rows<1>(surplus, g.features + q * size, size, size, gradient + q);
}

void weighted_gram(const BinaryGroups& g, const double* weight, double* room, double* upper) {
    const std::size_t size = g.n_groups, n = g.n_features;
    for (std::size_t q = 0; q < n; ++q) {
        const double* mine = g.features + q * size;
        for (std::size_t u = 0; u < size; u += 8) store(room + u, load(mine + u) * load(weight + u));
        std::size_t r = q;
        for (; r + 4 <= n; r += 4) dot_rows<4>(room, g.features + r * size, size, size, upper + q * n + r);
        for (; r < n; ++r) dot_rows<1>(room, g.features + r * size, size, size, upper + q * n + r);
    }
}

void binary_gains(const BinaryGains& b) {
    const BinaryGroups& g = *b.groups;
    const std::size_t n = g.n_features;
    constexpr double kHalfRoot = 0.5 * kRootTwo;  // the contrast of y = 0; that of y = 1 is its negative
    D gradient = {}, information = {};
    for (std::size_t u = 0; u < b.n_groups; ++u) {
        const D s0 = load(b.zero + 16 * u) * 2.0 - g.zeros[u], s1 = load(b.zero + 16 * u + 8) * 2.0 - g.ones[u];
        gradient += s0 * b.second[u] - s1 * b.first[u];
    }
    gradient *= kRootTwo * kHalfRoot;
    for (std::size_t u = 0; u < b.n_groups; ++u) information += (g.zeros[u] + g.ones[u]) * b.weighted[u] * 0.5;
    for (std::size_t q = 0; q < n; q += 4) {
        const std::size_t some = n - q < 4 ? n - q : 4;
        D sums[4] = {};
        const double* rows[4];
        for (std::size_t k = 0; k < 4; ++k) rows[k] = b.weighted + (q + (k < some ? k : 0)) * g.n_groups;
        for (std::size_t u = 0; u < b.n_groups; ++u) {
            const D signs = (load(b.zero + 16 * u) + load(b.zero + 16 * u + 8)) * 2.0 - (g.zeros[u] + g.ones[u]);
            for (std::size_t k = 0; k < 4; ++k) sums[k] += signs * rows[k][u];
        }
        for (std::size_t k = 0; k < some; ++k) store(b.room + (q + k) * 8, sums[k] * kHalfRoot);
    }
    D schur = information + 1.0;
    for (std::size_t q = 0; q < n; ++q) {  // U'^-1 of the column, and its square off the information
        const double* row = b.upper + q * n;
        const D mine = load(b.room + q * 8) / row[q];
        for (std::size_t r = q + 1; r < n; ++r) store(b.room + r * 8, load(b.room + r * 8) - mine * row[r]);
        schur -= mine * mine;
    }
    const D one = all(1.0);
    schur = schur < one ? one : schur;  // by rounding only: the prior alone is 1
    store(b.gain, gradient * gradient / schur * 0.5 - log_of_one_plus<8>(schur - one) * 0.5);
}

void binary_tables(const BinaryTables& t) {
    double score[8] = {};
    for (std::size_t u = 0; u < t.n_groups; ++u) {
        const double n0 = t.counts[u * t.stride], n1 = t.counts[u * t.stride + 1];
        const double *c0 = t.zero + 16 * u, *c1 = c0 + 8;
        for (int k = 0; k < 8; ++k) {
            const auto cell = [&](double count) { return t.half[static_cast<std::int64_t>(count)]; };
            const auto whole = [&](double count) { return t.whole[static_cast<std::int64_t>(count)]; };
            score[k] += (cell(c0[k]) + cell(c1[k]) - whole(c0[k] + c1[k])) +
                        (cell(n0 - c0[k]) + cell(n1 - c1[k]) - whole(n0 + n1 - c0[k] - c1[k]));
        }
    }
    std::memcpy(t.score, score, sizeof score);
}

// ---- x of any number of states

// Σ_k contrasts[a * width + k] · coefficients[k] for each state, into in_lanes(card) lanes.
void by_state(const GeneralGroups& g, const double* coefficients, double* table) {
    for (std::size_t a = 0; a < in_lanes(g.card); ++a) {
        double sum = 0.0;
        for (std::size_t k = 0; k < g.width && a < g.card; ++k) sum += g.contrasts[a * g.width + k] * coefficients[k];
        table[a] = sum;
    }
}

// The logarithm of x's distribution is a sum of one table per member, looked up by its state.
void make_tables(const GeneralGroups& g, const double* weights, double* tables) {
    const std::size_t stride = in_lanes(g.card), width = g.width;
    by_state(g, weights, tables);
    for (std::size_t a = g.card; a < stride; ++a) tables[a] = -1e300;  // lanes beyond the last state
    tables += stride;
    double coefficients[256];
    for (std::size_t i = 0; i < g.n_members; ++i) {
        const CodedMember& member = g.members[i];
        for (std::size_t s = 0; s < member.card; ++s, tables += stride) {
            for (std::size_t k = 0; k < width; ++k) {
                double sum = 0.0;
                for (std::size_t e = 0; e < member.width; ++e)
                    sum += member.coding[s * member.width + e] * weights[(member.first + e) * width + k];
                coefficients[k] = sum;
            }
            by_state(g, coefficients, tables);
        }
    }
}

double general_posterior(const GeneralGroups& g, const double* weights, double* tables, double* probabilities,
                         double* sums) {
    make_tables(g, weights, tables);
    const std::size_t stride = in_lanes(g.card);
    D fits = {};
    for (std::size_t u = 0; u < g.n_groups; ++u) {
        double* p = probabilities + u * stride;
        D most = all(-1e301);
        for (std::size_t a = 0; a < stride; a += 8) {
            D field = load(tables + a);
            const double* table = tables + stride + a;
            for (std::size_t i = 0; i < g.n_members; table += g.members[i].card * stride, ++i)
                field += load(table + g.members[i].states[u] * stride);
            store(p + a, field);
            most = field > most ? field : most;
        }
        const double largest = largest_of(most);
        D sum = {};
        for (std::size_t a = 0; a < stride; a += 8) {
            const D below = largest - load(p + a), count = load(g.counts + u * stride + a);
            fits -= count > all(0.0) ? count * below : all(0.0);
            const D e = exp_of_minus<8>(below);
            sum += e;
            store(p + a, e);
        }
        sums[u] = sum_of(sum);
        const double scale = 1.0 / sums[u];
        for (std::size_t a = 0; a < stride; a += 8) store(p + a, load(p + a) * scale);
    }
    for (std::size_t u = g.n_groups; u < in_lanes(g.n_groups); ++u) sums[u] = 1.0;
    D logs = {};
    for (std::size_t u = 0; u < g.n_groups; u += 8) {
        D size = {};
        for (std::size_t k = 0; k < 8 && u + k < g.n_groups; ++k) size[k] = g.sizes[u + k];
        logs += size * log_of_one_plus<8>(load(sums + u) - 1.0);
    }
    return sum_of(fits) - sum_of(logs);
}

void find_means(const GeneralGroups& g, const GeneralMoments& m) {
    const std::size_t w = g.width, states = in_lanes(g.card), line = in_lanes(w);
    for (std::size_t u = 0; u < g.n_groups; ++u) {
        const double *p = m.probabilities + u * states, *count = g.counts + u * states;
        double *mean = m.mean + u * line, *surplus = m.surplus + u * line;
        std::memset(mean, 0, line * sizeof(double));
        std::memset(surplus, 0, line * sizeof(double));
        for (std::size_t a = 0; a < g.card; ++a)
            for (std::size_t k = 0; k < w; ++k) mean[k] += p[a] * g.contrasts[a * w + k];
        for (std::size_t a = 0; a < g.card; ++a)
            for (std::size_t k = 0; k < w; ++k) surplus[k] += count[a] * (g.contrasts[a * w + k] - mean[k]);
    }
}

void find_spreads(const GeneralGroups& g, const GeneralMoments& m) {
    const std::size_t w = g.width, states = in_lanes(g.card), line = in_lanes(w), block = in_lanes(w * w);
    double centred[256];
    for (std::size_t u = 0; u < g.n_groups; ++u) {
        const double *p = m.probabilities + u * states, *mean = m.mean + u * line;
        double* spread = m.spread + u * block;
        std::memset(spread, 0, block * sizeof(double));
        for (std::size_t a = 0; a < g.card; ++a) {
            for (std::size_t k = 0; k < w; ++k) centred[k] = g.contrasts[a * w + k] - mean[k];
            for (std::size_t k = 0; k < w; ++k) {
                const double scaled = p[a] * centred[k];
                for (std::size_t l = 0; l < w; ++l) spread[k * w + l] += scaled * centred[l];
            }
        }
    }
}

void fill_cells(const GeneralGroups& g, const double* spread, double* cells) {
    const std::size_t block = in_lanes(g.width * g.width), m = g.n_members;
    std::size_t n_cells = 1;
    for (std::size_t i = 0; i < m; ++i) {
        n_cells += g.members[i].card;
        for (std::size_t j = i + 1; j < m; ++j) n_cells += g.members[i].card * g.members[j].card;
    }
    std::memset(cells, 0, n_cells * block * sizeof(double));
    for (std::size_t u = 0; u < g.n_groups; ++u) {
        for (std::size_t part = 0; part < block; part += 8) {
            const D mine = load(spread + u * block + part) * g.sizes[u];
            double* cell = cells + part;
            add_to(cell, mine);
            cell += block;
            for (std::size_t i = 0; i < m; cell += g.members[i].card * block, ++i)
                add_to(cell + g.members[i].states[u] * block, mine);
            for (std::size_t i = 0; i < m; ++i) {
                const std::size_t s = g.members[i].states[u], card = g.members[i].card;
                for (std::size_t j = i + 1; j < m; cell += card * g.members[j].card * block, ++j)
                    add_to(cell + (s * g.members[j].card + g.members[j].states[u]) * block, mine);
            }
        }
    }
}

// upper[(q * w + k), (r * w + l)] = block[k * w + l]; of a block on the diagonal the upper triangle.
void place_block(double* upper, std::size_t size, std::size_t w, std::size_t q, std::size_t r, const double* block) {
    for (std::size_t k = 0; k < w; ++k)
        std::memcpy(upper + (q * w + k) * size + r * w, block + k * w, w * sizeof(double));
}

// out[e] := Σ_s coding[s * width + e] · in[s], blocks of `block` numbers.
void contract(const double* coding, std::size_t card, std::size_t width, const double* in, std::size_t block,
              double* out) {
    for (std::size_t e = 0; e < width; ++e) {
        for (std::size_t part = 0; part < block; part += 8) {
            D sum = {};
            for (std::size_t s = 0; s < card; ++s) sum += load(in + s * block + part) * coding[s * width + e];
            store(out + e * block + part, sum);
        }
    }
}

void contract_members(const GeneralGroups& g, const double* cells, double* room, double* upper, std::size_t size) {
    const std::size_t w = g.width, block = in_lanes(w * w), m = g.n_members;
    place_block(upper, size, w, 0, 0, cells);
    const double* cell = cells + block;
    for (std::size_t i = 0; i < m; cell += g.members[i].card * block, ++i) {
        const CodedMember& one = g.members[i];
        contract(one.coding, one.card, one.width, cell, block, room);
        for (std::size_t e = 0; e < one.width; ++e) place_block(upper, size, w, 0, one.first + e, room + e * block);
        for (std::size_t e = 0; e < one.width; ++e) {
            for (std::size_t s = 0; s < one.card; ++s)
                for (std::size_t part = 0; part < block; part += 8)
                    store(room + s * block + part, load(cell + s * block + part) * one.coding[s * one.width + e]);
            double* out = room + one.card * block;
            contract(one.coding, one.card, one.width, room, block, out);
            for (std::size_t f = e; f < one.width; ++f)
                place_block(upper, size, w, one.first + e, one.first + f, out + f * block);
        }
    }
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = i + 1; j < m; ++j) {
            const CodedMember &one = g.members[i], &other = g.members[j];
            for (std::size_t s = 0; s < one.card; ++s, cell += other.card * block)
                contract(other.coding, other.card, other.width, cell, block, room + s * other.width * block);
            double* out = room + one.card * other.width * block;
            contract(one.coding, one.card, one.width, room, other.width * block, out);
            for (std::size_t e = 0; e < one.width; ++e)
                for (std::size_t f = 0; f < other.width; ++f)
                    place_block(upper, size, w, one.first + e, other.first + f, out + (e * other.width + f) * block);
        }
    }
}

void general_information(const GeneralGroups& g, const GeneralMoments& moments, double* cells, double* room,
                         double* upper) {
    std::size_t n_features = 1;
    for (std::size_t i = 0; i < g.n_members; ++i) n_features += g.members[i].width;
    find_spreads(g, moments);
    fill_cells(g, moments.spread, cells);
    contract_members(g, cells, room, upper, n_features * g.width);
}

void general_gradient(const GeneralGroups& g, const GeneralMoments& moments, double* room, double* gradient) {
    std::size_t n_states = 1;
    for (std::size_t i = 0; i < g.n_members; ++i) n_states += g.members[i].card;
    const std::size_t w = g.width, line = in_lanes(w);
    find_means(g, moments);
    std::memset(room, 0, n_states * line * sizeof(double));
    for (std::size_t u = 0; u < g.n_groups; ++u) {
        for (std::size_t part = 0; part < line; part += 8) {
            const D mine = load(moments.surplus + u * line + part);
            double* at = room + part;
            add_to(at, mine);
            at += line;
            for (std::size_t i = 0; i < g.n_members; at += g.members[i].card * line, ++i)
                add_to(at + g.members[i].states[u] * line, mine);
        }
    }
    std::memcpy(gradient, room, w * sizeof(double));
    const double* at = room + line;
    for (std::size_t i = 0; i < g.n_members; at += g.members[i].card * line, ++i) {
        const CodedMember& one = g.members[i];
        for (std::size_t e = 0; e < one.width; ++e) {
            for (std::size_t k = 0; k < w; ++k) {
                double sum = 0.0;
                for (std::size_t s = 0; s < one.card; ++s) sum += at[s * line + k] * one.coding[s * one.width + e];
                gradient[(one.first + e) * w + k] = sum;
            }
        }
    }
}

// ---- one more block of features

void sum_entries(const GeneralGroups& g, const double* spread, const Entries& entries, double* by_state,
                 double* surplus_by_state) {
    const std::size_t line = in_lanes(g.width), block = in_lanes(g.width * g.width);
    for (std::size_t t = 0; t < entries.n_entries; ++t) {
        const std::size_t u = entries.group[t], s = entries.state[t];
        for (std::size_t part = 0; part < block; part += 8)
            add_to(by_state + s * block + part, load(spread + u * block + part) * entries.rows[t]);
        for (std::size_t part = 0; part < line; part += 8)
            add_to(surplus_by_state + s * line + part, load(entries.surplus + t * line + part));
    }
}

void cross_entries(const GeneralGroups& g, const double* spread, const Entries& entries, std::size_t n_states,
                   double* crossed) {
    const std::size_t block = in_lanes(g.width * g.width);
    std::size_t n_cells = 1;
    for (std::size_t i = 0; i < g.n_members; ++i) n_cells += g.members[i].card;
    std::memset(crossed, 0, n_states * n_cells * block * sizeof(double));
    for (std::size_t t = 0; t < entries.n_entries; ++t) {
        const std::size_t u = entries.group[t];
        for (std::size_t part = 0; part < block; part += 8) {
            const D mine = load(spread + u * block + part) * entries.rows[t];
            double* cell = crossed + entries.state[t] * n_cells * block + part;
            add_to(cell, mine);
            cell += block;
            for (std::size_t i = 0; i < g.n_members; cell += g.members[i].card * block, ++i)
                add_to(cell + g.members[i].states[u] * block, mine);
        }
    }
}

void contract_cross(const GeneralGroups& g, const CodedBlock& b, const double* crossed, double* room, double* cross,
                    std::size_t stride) {
    const std::size_t w = g.width, block = in_lanes(w * w);
    std::size_t n_cells = 1;
    for (std::size_t i = 0; i < g.n_members; ++i) n_cells += g.members[i].card;
    contract(b.coding, b.n_states, b.width, crossed, n_cells * block, room);  // [e][cell]
    double* by_feature = room + b.width * n_cells * block;
    const auto place = [&](std::size_t q, std::size_t e, const double* values) {
        for (std::size_t k = 0; k < w; ++k)
            std::memcpy(cross + (q * w + k) * stride + e * w, values + k * w, w * sizeof(double));
    };
    for (std::size_t e = 0; e < b.width; ++e) {
        const double* cell = room + e * n_cells * block;
        place(0, e, cell);
        cell += block;
        for (std::size_t i = 0; i < g.n_members; cell += g.members[i].card * block, ++i) {
            const CodedMember& one = g.members[i];
            contract(one.coding, one.card, one.width, cell, block, by_feature);
            for (std::size_t f = 0; f < one.width; ++f) place(one.first + f, e, by_feature + f * block);
        }
    }
}

// ---- linear algebra

MNLEARN_INLINE inline void subtract_scaled(double* to, double scale, const double* from, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) to[k] -= scale * from[k];
}

bool factorise(double* upper, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        double* row = upper + i * size;
        if (!(row[i] > 0.0)) return false;
        row[i] = std::sqrt(row[i]);
        const double inverse = 1.0 / row[i];
        for (std::size_t k = i + 1; k < size; ++k) row[k] *= inverse;
        for (std::size_t k = i + 1; k < size; ++k) subtract_scaled(upper + k * size + k, row[k], row + k, size - k);
    }
    return true;
}

void solve_columns(const double* upper, std::size_t size, double* columns, std::size_t stride) {
    for (std::size_t i = 0; i < size; ++i) {
        const double* row = upper + i * size;
        double* mine = columns + i * stride;
        const double inverse = 1.0 / row[i];
        for (std::size_t e = 0; e < stride; ++e) mine[e] *= inverse;
        for (std::size_t k = i + 1; k < size; ++k) subtract_scaled(columns + k * stride, row[k], mine, stride);
    }
}

void subtract_squares(const double* columns, std::size_t size, std::size_t stride, std::size_t width, double* matrix) {
    for (std::size_t i = 0; i < size; ++i) {
        const double* row = columns + i * stride;
        for (std::size_t e = 0; e < width; ++e)
            if (row[e] != 0.0) subtract_scaled(matrix + e * width + e, row[e], row + e, width - e);
    }
}

double dot(const double* a, const double* b, std::size_t size) {
    D sums = {};
    std::size_t k = 0;
    for (; k + 8 <= size; k += 8) sums += load(a + k) * load(b + k);
    double rest = 0.0;
    for (; k < size; ++k) rest += a[k] * b[k];
    return sum_of(sums) + rest;
}

constexpr ConditionalKernels kKernels{
    .binary_posterior = binary_posterior,
    .binary_gradient = binary_gradient,
    .weighted_gram = weighted_gram,
    .binary_gains = binary_gains,
    .binary_tables = binary_tables,
    .general_posterior = general_posterior,
    .general_gradient = general_gradient,
    .general_information = general_information,
    .sum_entries = sum_entries,
    .cross_entries = cross_entries,
    .contract_cross = contract_cross,
    .factorise = factorise,
    .solve_columns = solve_columns,
    .subtract_squares = subtract_squares,
    .dot = dot,
};

}  // namespace conditional
}  // namespace
}  // namespace mnlearn
