//! Inner steps counted in tests, so that a test can say that time grows with a run's length without a clock.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that `steps` inner steps are done: costs evaluated, readings looked at, drops compared.
#[inline]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|sum| sum.set(sum.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

/// Steps that `f` takes on this thread.
#[cfg(test)]
pub(crate) fn counted(f: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    f();
    STEPS.with(std::cell::Cell::get) - before
}
