#if canImport(SwiftUI)
    public import Foundation
    public import Tombolo

    /// Predicates made by `NSPredicate(format:)`, read by their text. Supports comparisons of properties with numbers,
    /// strings, Booleans and nil. Other predicates, such as those with dates, stop the program: write `where` or
    /// `filter("…", date)` instead.
    extension RealmCollection {
        /// The elements that also satisfy a predicate.
        public func filter(_ predicate: NSPredicate) -> Results<Element> { filter(predicate.format) }

        /// The index of the first element that satisfies a predicate, or nil.
        public func index(matching predicate: NSPredicate) -> Int? { index(matching: predicate.format) }
    }

    extension NSPredicate {
        /// A predicate's description is its format, which Tombolo's own parser reads.
        var format: String { description }
    }
#endif
