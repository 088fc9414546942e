//! Give me what each call cost, I say what is spent by step, and whether another call is allowed.

use crate::language::language_model::{ChatRequest, Step, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most that one answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Budget {
    /// Calls of the model.
    pub calls: usize,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Money, in the currency of the prices.
    pub cost: Option<f64>,
    /// Time.
    pub time: Duration,
    /// Actions of any kind.
    pub steps: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { calls: 40, tokens: 500_000, cost: None, time: Duration::from_secs(600), steps: 200 }
    }
}

/// Prices of a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Read.
    pub prompt: f64,
    /// Written.
    pub completion: f64,
}

impl Prices {
    /// The price of one call.
    pub fn of(&self, usage: Usage) -> f64 {
        (usage.prompt_tokens as f64 * self.prompt + usage.completion_tokens as f64 * self.completion) / 1e6
    }
}

/// What the calls of one step cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepCost {
    /// Calls.
    pub calls: usize,
    /// Of these, answered from the cache, for nothing.
    pub cached: usize,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// By the prices that were given.
    pub price: f64,
}

impl StepCost {
    fn add(&mut self, other: &StepCost) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.price += other.price;
    }

    /// Read and written.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

/// What an answer cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// All calls.
    pub total: StepCost,
    /// By what they were for.
    pub steps: BTreeMap<Step, StepCost>,
    /// Retrievals from the file.
    pub retrievals: usize,
    /// Tokens of text that the model was shown from the file, each piece counted once.
    pub retrieved_tokens: u64,
}

impl Ledger {
    /// Writes a call down.
    pub fn add(&mut self, step: Step, usage: Usage, cached: bool, prices: &Prices) {
        let cost = StepCost {
            calls: 1,
            cached: usize::from(cached),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            price: if cached { 0.0 } else { prices.of(usage) },
        };
        self.total.add(&cost);
        self.steps.entry(step).or_default().add(&cost);
    }

    /// Puts what a call really took in the place of what was claimed for it.
    pub fn correct(&mut self, step: Step, claimed: Usage, usage: Usage, cached: bool, prices: &Prices) {
        let price = prices.of(claimed) - if cached { 0.0 } else { prices.of(usage) };
        for cost in [Some(&mut self.total), self.steps.get_mut(&step)].into_iter().flatten() {
            cost.cached += usize::from(cached);
            cost.prompt_tokens = cost.prompt_tokens.saturating_sub(claimed.prompt_tokens) + usage.prompt_tokens;
            cost.completion_tokens =
                cost.completion_tokens.saturating_sub(claimed.completion_tokens) + usage.completion_tokens;
            cost.price = (cost.price - price).max(0.0);
        }
    }

    /// Adds another one up.
    pub fn merge(&mut self, other: &Ledger) {
        self.total.add(&other.total);
        other.steps.iter().for_each(|(step, cost)| self.steps.entry(*step).or_default().add(cost));
        self.retrievals += other.retrievals;
        self.retrieved_tokens += other.retrieved_tokens;
    }

    /// Why `request` may not be sent any more, if so: what it may cost at most counts.
    pub fn refuses(
        &self,
        budget: &Budget,
        prices: &Prices,
        request: &ChatRequest,
        elapsed: Duration,
    ) -> Option<String> {
        let most =
            Usage { prompt_tokens: request.estimated_tokens(), completion_tokens: u64::from(request.max_tokens) };
        if self.total.calls >= budget.calls {
            return Some(format!("{} calls of the model are spent", budget.calls));
        }
        if self.total.tokens().saturating_add(most.prompt_tokens) > budget.tokens {
            return Some(format!("{} of {} tokens are spent", self.total.tokens(), budget.tokens));
        }
        if let Some(cost) = budget.cost
            && self.total.price + prices.of(most) > cost
        {
            let next = prices.of(most);
            return Some(format!(
                "{:.4} of {cost:.4} is spent, and the next call may cost {next:.4}",
                self.total.price
            ));
        }
        (elapsed >= budget.time).then(|| format!("{:.0} s are over", budget.time.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::language_model::Message;

    #[test]
    fn no_call_is_allowed_that_may_exceed_the_budget() {
        let request = ChatRequest::new(Step::Answer, vec![Message::user("word ".repeat(300))], 1000);
        let prices = Prices { prompt: 1.0, completion: 10.0 };
        let mut ledger = Ledger::default();
        let enough = Budget { calls: 2, tokens: 10_000, cost: Some(0.02), ..Default::default() };
        let refused = |ledger: &Ledger, budget: &Budget| ledger.refuses(budget, &prices, &request, Duration::ZERO);
        assert_eq!(refused(&ledger, &enough), None);
        assert!(refused(&ledger, &Budget { cost: Some(0.01), ..enough }).unwrap().contains("may cost 0.0104"));
        ledger.add(Step::Answer, Usage { prompt_tokens: 400, completion_tokens: 900 }, false, &prices);
        ledger.add(Step::Check, Usage { prompt_tokens: 400, completion_tokens: 900 }, true, &prices);
        assert!((ledger.total.price - 0.0094).abs() < 1e-12 && ledger.steps[&Step::Check].price == 0.0);
        assert!(refused(&ledger, &enough).unwrap().contains("2 calls"));
        assert!(refused(&ledger, &Budget { calls: 9, tokens: 2900, ..enough }).unwrap().contains("2600 of 2900"));
        let late = ledger.refuses(&Budget { calls: 9, ..enough }, &prices, &request, Duration::from_secs(600));
        assert!(late.unwrap().contains("600 s"));
    }
}
