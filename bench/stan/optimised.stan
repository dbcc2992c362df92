// The same posterior through arrivals and departures, as one would write it for speed in Stan.
//
// One product of the passive probabilities with exp(lowest - discount * v) serves all transitions;
// states that nobody left have no row in it, and a coefficient for every state needs no basis.
data {
  int<lower=1> states;
  int<lower=1> functions;
  int<lower=1> leaving;
  real<lower=0, upper=1> discount;
  vector<lower=0>[states] arrivals;
  vector<lower=0>[leaving] departures;
  matrix<lower=0>[leaving, states] passive;
  int<lower=0, upper=1> identity;
  matrix[identity ? 0 : states, functions] basis;
  // the prior's standard deviation: 1 is 1/sqrt(scale), 2 is 1/scale, 3 is known
  int<lower=1, upper=3> form;
  real<lower=0> shape;
  real<lower=0> rate;
  real<lower=0> known_sd;
}
transformed data {
  real total = sum(departures);
  vector[states] drawn = discount * arrivals;
}
parameters {
  vector[functions] beta;
  real<lower=0> scale[form < 3 ? 1 : 0];
}
transformed parameters {
  vector[states] cost_to_go;
  if (identity) cost_to_go = beta;
  else cost_to_go = basis * beta;
}
model {
  real lowest = discount * min(cost_to_go);
  if (form == 3) {
    beta ~ normal(0, known_sd);
  } else {
    scale[1] ~ gamma(shape, rate);
    beta ~ normal(0, form == 1 ? inv_sqrt(scale[1]) : inv(scale[1]));
  }
  target += total * lowest - dot_product(drawn, cost_to_go)
            - dot_product(departures, log(passive * exp(lowest - discount * cost_to_go)));
}
