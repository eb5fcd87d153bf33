//! Two types or shapes that should be the same, and how a report says that they are not.

use super::Checker;
use crate::definitions::{EdgeShape, Type};
use crate::difference::{In, difference, same_shape};

/// Two types or shapes that are not the same, as text, and where they part if that is further in.
pub(super) type Mismatch = (String, String, Option<String>);

impl Checker<'_, '_, '_> {
    /// Returns two types as text, and where they part, if they do. The sides are what the help
    /// calls them.
    pub(super) fn mismatch(&self, left: &Type, right: &Type, sides: [&str; 2]) -> Option<Mismatch> {
        let parted = difference(In::new(&self.made, left), In::new(&self.made, right))?;
        let help = parted.describe(sides[0], sides[1]);
        Some((self.brief(left), self.brief(right), help))
    }

    /// The same of two shapes.
    pub(super) fn shape_mismatch(&self, member: &EdgeShape, found: &EdgeShape) -> Option<Mismatch> {
        let same = same_shape(In::new(&self.made, member), In::new(&self.made, found));
        (!same).then(|| (self.made.shape_text(member), self.made.shape_text(found), None))
    }

    /// Returns a type as it is written, or only its kind where that would be long.
    pub(super) fn brief(&self, ty: &Type) -> String {
        let text = self.made.type_text(ty);
        if text.len() <= 60 || !matches!(ty, Type::Record(_)) {
            return text;
        }
        "record {…}".to_owned()
    }
}
