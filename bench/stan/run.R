# Compiles the Stan programs beside this file, times their gradients and samples from them.
#
# Requests come one a line, words between spaces; every answer is one line that starts with '@' and
# holds names and numbers in turn, or an error. Arrays travel as text files: the number of axes,
# their lengths, then all values with the first axis running fastest.

answer <- function(...) {
  cat("@", ..., "\n")
  flush(stdout())
}

number <- function(x) format(x, digits = 12, scientific = FALSE, trim = TRUE)

if (!suppressWarnings(suppressMessages(require(rstan, quietly = TRUE)))) {
  answer("missing")
  quit(status = 2)
}

# Debian has a BH package without headers: they are the system's
if (system.file("include", package = "BH") == "") rstan_options(boost_lib = "/usr/include")

arguments <- commandArgs(trailingOnly = TRUE)
programs <- arguments[1]
models <- list()

read_array <- function(path) {
  numbers <- scan(path, quiet = TRUE)
  axes <- numbers[1]
  values <- numbers[-seq_len(1 + axes)]
  if (axes == 0) values else array(values, dim = numbers[1 + seq_len(axes)])
}

write_array <- function(values, path) {
  axes <- if (is.null(dim(values))) length(values) else dim(values)
  writeLines(c(paste(c(length(axes), axes), collapse = " "), sprintf("%.17g", values)), path)
}

read_data <- function(folder) {
  paths <- list.files(file.path(folder, "data"), full.names = TRUE)
  names(paths) <- sub("\\.txt$", "", basename(paths))
  lapply(paths, read_array)
}

now <- function() as.numeric(Sys.time())

# The least mean time of many short batches of calls, in seconds, the first call not counted
seconds_per_call <- function(call, budget = 2) {
  call()
  start <- now()
  call()
  once <- now() - start
  size <- max(1, ceiling(0.005 / once))
  batches <- min(400, max(3, ceiling(budget / (size * once))))
  best <- Inf
  for (batch in seq_len(batches)) {
    start <- now()
    for (k in seq_len(size)) call()
    best <- min(best, (now() - start) / size)
  }
  best
}

compile <- function(program) {
  start <- now()
  models[[program]] <<- stan_model(file.path(programs, paste0(program, ".stan")))
  answer("seconds", number(now() - start))
}

gradient <- function(program, folder) {
  posterior <- suppressMessages(sampling(models[[program]], read_data(folder), chains = 0))
  point <- as.vector(read_array(file.path(folder, "point.txt")))
  slope <- grad_log_prob(posterior, point)
  write_array(as.vector(slope), file.path(folder, "gradient.txt"))
  answer("seconds", number(seconds_per_call(function() grad_log_prob(posterior, point))))
}

sample_posterior <- function(program, folder, chains, iterations, warmup, cores, seed, dense = 0) {
  data <- read_data(folder)
  unknown <- data$form < 3 # a scale that is known has no draws
  start <- now()
  fit <- sampling(
    models[[program]], data, pars = c("cost_to_go", if (unknown) "scale"), chains = chains,
    iter = iterations, warmup = warmup, cores = cores, seed = seed, refresh = 0,
    control = list(metric = if (dense) "dense_e" else "diag_e")
  )
  seconds <- now() - start
  kept <- get_sampler_params(fit, inc_warmup = FALSE)
  all <- get_sampler_params(fit, inc_warmup = TRUE)
  total <- function(chains, what) sum(vapply(chains, function(chain) sum(chain[, what]), 0))
  write_array(extract(fit, "cost_to_go", permuted = FALSE), file.path(folder, "draws.txt"))
  if (unknown) write_array(extract(fit, "scale", permuted = FALSE), file.path(folder, "scale.txt"))
  answer(
    "seconds", number(seconds), "steps", number(total(all, "n_leapfrog__")),
    "divergences", number(total(kept, "divergent__")),
    "cpu_seconds", number(sum(get_elapsed_time(fit))) # Stan's clock counts processor time
  )
}

requests <- file("stdin", "r")
answer("rstan", as.character(packageVersion("rstan")))
while (length(line <- readLines(requests, n = 1))) {
  words <- strsplit(line, " ", fixed = TRUE)[[1]]
  rest <- as.list(words[-(1:3)])
  tryCatch(
    switch(words[1],
      compile = compile(words[2]),
      gradient = gradient(words[2], words[3]),
      sample = do.call(sample_posterior, c(words[2], words[3], lapply(rest, as.numeric)))
    ),
    error = function(problem) {
      answer("error", gsub("[[:space:]]+", " ", conditionMessage(problem)))
    }
  )
}
