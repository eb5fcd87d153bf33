//! Changes for people and for programs.

use serde_json::{Value, json};

use super::{Change, Concern, Impact};
use crate::render::{LineIndex, located};
use crate::source::{Place, Sources};

/// Returns the changes as text: each with who has to follow and the places in both revisions, and
/// a last line that counts them.
#[must_use]
pub fn render_changes_text(changes: &[Change], old: &Sources, new: &Sources) -> String {
    if changes.is_empty() {
        return "nothing changed in meaning\n".to_owned();
    }
    let (mut old_lines, mut new_lines) = (LineIndex::new(old), LineIndex::new(new));
    let mut text = String::new();
    for change in changes {
        text.push_str(&format!("{}: {}\n", impact(change.impact()), change.message));
        for (concern, impact_on) in &change.effects {
            text.push_str(&format!("  {}: {}\n", concern_text(*concern), impact(*impact_on)));
        }
        if let Some(place) = change.old {
            text.push_str(&format!("  old: {}\n", position(place, old, &mut old_lines)));
        }
        if let Some(place) = change.new {
            text.push_str(&format!("  new: {}\n", position(place, new, &mut new_lines)));
        }
        text.push('\n');
    }
    let count = |wanted| changes.iter().filter(|it| it.impact() == wanted).count();
    text.push_str(&format!(
        "{} breaking, {} needing migration, {} safe\n",
        count(Impact::Breaking),
        count(Impact::NeedsMigration),
        count(Impact::Safe)
    ));
    text
}

/// Returns the changes as an array of objects. Lines and columns count from 1.
#[must_use]
pub fn render_changes_json(changes: &[Change], old: &Sources, new: &Sources) -> Value {
    let (mut old_lines, mut new_lines) = (LineIndex::new(old), LineIndex::new(new));
    let object = |change: &Change| {
        let effects: serde_json::Map<_, _> = change
            .effects
            .iter()
            .map(|(concern, on)| (concern_key(*concern).to_owned(), json!(impact_key(*on))))
            .collect();
        json!({
            "impact": impact_key(change.impact()),
            "message": change.message,
            "effects": effects,
            "old": change.old.map(|place| located(place, old, &mut old_lines)),
            "new": change.new.map(|place| located(place, new, &mut new_lines)),
        })
    };
    changes.iter().map(object).collect()
}

fn impact(impact: Impact) -> &'static str {
    match impact {
        Impact::Safe => "safe",
        Impact::NeedsMigration => "needs migration",
        Impact::Breaking => "breaking",
    }
}

fn impact_key(impact: Impact) -> &'static str {
    match impact {
        Impact::Safe => "safe",
        Impact::NeedsMigration => "needs-migration",
        Impact::Breaking => "breaking",
    }
}

fn concern_text(concern: Concern) -> &'static str {
    match concern {
        Concern::Data => "stored data",
        Concern::Callers => "callers",
        Concern::Handlers => "handlers",
    }
}

fn concern_key(concern: Concern) -> &'static str {
    match concern {
        Concern::Data => "data",
        Concern::Callers => "callers",
        Concern::Handlers => "handlers",
    }
}

fn position<'a>(place: Place, sources: &'a Sources, lines: &mut LineIndex<'a>) -> String {
    let at = lines.of(place.source).position(place.range().start);
    format!("{}:{}:{}", sources.get(place.source).name, at.line, at.column)
}
