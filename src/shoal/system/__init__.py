"""The machine below: files written whole, locks, memory, threads, workers, progress, quarantine."""
