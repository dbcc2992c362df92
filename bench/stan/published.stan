// The posterior computed the way the paper's own program does it.
//
// Every distinct transition builds exp(-discount * v) afresh, multiplies it with a dense row of
// passive probabilities and takes a logarithm: the work grows as transitions times states.
data {
  int<lower=1> states;
  int<lower=1> functions;
  int<lower=1> pairs;
  real<lower=0, upper=1> discount;
  int<lower=1, upper=states> origin[pairs];
  int<lower=1, upper=states> destination[pairs];
  vector<lower=0>[pairs] seen;
  row_vector<lower=0>[states] passive[states];
  matrix[states, functions] basis;
  // the prior's standard deviation: 1 is 1/sqrt(scale), 2 is 1/scale, 3 is known
  int<lower=1, upper=3> form;
  real<lower=0> shape;
  real<lower=0> rate;
  real<lower=0> known_sd;
}
parameters {
  vector[functions] beta;
  real<lower=0> scale[form < 3 ? 1 : 0];
}
transformed parameters {
  vector[states] cost_to_go = basis * beta;
}
model {
  if (form == 3) {
    beta ~ normal(0, known_sd);
  } else {
    scale[1] ~ gamma(shape, rate);
    beta ~ normal(0, form == 1 ? inv_sqrt(scale[1]) : inv(scale[1]));
  }
  for (k in 1:pairs) {
    real reached = passive[origin[k]] * exp(-discount * cost_to_go);
    target += seen[k] * (-discount * cost_to_go[destination[k]] - log(reached));
  }
}
