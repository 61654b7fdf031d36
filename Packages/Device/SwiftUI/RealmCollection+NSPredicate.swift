#if canImport(SwiftUI)
    public import Foundation
    public import Tombolo

    /// Predicates made by `NSPredicate(format:)`, by their text: comparisons of properties with numbers, text, booleans
    /// and nil. Stops the program for others, such as those with dates: write `where` or `filter("…", date)`.
    extension RealmCollection {
        /// The elements that also satisfy a predicate.
        public func filter(_ predicate: NSPredicate) -> Results<Element> { filter(predicate.format) }

        /// The index of the first element that satisfies a predicate, or nil.
        public func index(matching predicate: NSPredicate) -> Int? { index(matching: predicate.format) }
    }

    extension NSPredicate {
        /// A predicate describes itself by its format, which Tombolo's own parser reads.
        var format: String { description }
    }
#endif
