//! Random numbers that a seed repeats, for what no strategy draws: moments, turns, cuts; and what
//! the environment may set.

/// A source of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Returns the source of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns an index below a length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// Tells yes in so many of a hundred cases.
    pub(crate) fn percent(&mut self, yes: u64) -> bool {
        self.below(100) < yes
    }

    /// Returns one of several.
    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.index(among.len())]
    }
}

/// Returns a number that the environment sets, or the usual one.
pub(crate) fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// Returns the seed that the environment names, or a fixed one, and says how to run it again.
#[expect(clippy::print_stdout, reason = "the harness shows it when the test fails")]
pub(crate) fn seeded(name: &str, usual: u64) -> u64 {
    let seed = setting("QUIXOS_SEED", usual);
    println!("run again with QUIXOS_SEED={seed} cargo test -p quixos-tests --test {name}");
    seed
}
