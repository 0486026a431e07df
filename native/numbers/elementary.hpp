// Elementary functions with the same bits everywhere: + − * / sqrt and moves of bits only, no fused operations and none
// of the C library, whose last bits differ between machines.
//
// Errors are in units in the last place (ulp) of the exact result, of which rounding alone takes 0.5. The tests compare
// with more digits over the whole range of each function. A result below 2^−1022 may have 1 ulp. NaN gives NaN.
#pragma once

namespace mnlearn::elementary {

double exp(double x);        // 0.53 ulp at most; 0 below −745.2, infinity above 709.8
double expm1(double x);      // exp(x) − 1: 0.53 ulp at most, however small x is
double log(double x);        // 0.53 ulp at most; −infinity at 0, NaN below
double log1p(double x);      // log(1 + x): 0.53 ulp at most, however small x is; −infinity at −1, NaN below
double log2(double x);       // 0.53 ulp at most, exact for powers of two; −infinity at 0, NaN below
double atanh(double x);      // 0.53 ulp at most; infinite at −1 and 1, NaN beyond
double cbrt(double x);       // 0.53 ulp at most
double erf(double x);        // 0.80 ulp at most
double erfc(double x);       // 1 − erf(x): 0.80 ulp at most; 0 from 27.5 on
double log_gamma(double x);  // log Γ(x) of x > 0: 0.65 ulp at most, also beside its zeros at 1 and 2; else NaN

}  // namespace mnlearn::elementary
