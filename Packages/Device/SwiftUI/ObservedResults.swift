#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI
    public import Tombolo
    internal import TomboloObservables

    /// The objects of a class, frozen for rendering: `@ObservedResults(Dog.self) var dogs`. `$dogs` adds and deletes
    /// objects, and has settable `filter`, `where` and `sortDescriptor`. See ``ObservedQuery``.
    @MainActor
    @propertyWrapper
    public struct ObservedResults<ResultType: Object & Identifiable>: DynamicProperty {
        @StateObject private var storage: Relay<ObservedQuery<ResultType>>
        @Environment(\.realmConfiguration) private var environment
        private let terms: QueryTerms

        /// - Parameters:
        ///   - configuration: nil for the environment's `realmConfiguration`.
        ///   - keyPaths: the properties whose changes count; nil for all.
        public init(
            _ type: ResultType.Type, configuration: Realm.Configuration? = nil, filter: NSPredicate? = nil,
            keyPaths: [String]? = nil, sortDescriptor: Tombolo.SortDescriptor? = nil
        ) {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: QueryTerms.Condition(filter), keyPaths: keyPaths,
                    sortDescriptors: sortDescriptor.map { [$0] } ?? []))
        }

        public init(
            _ type: ResultType.Type, configuration: Realm.Configuration? = nil,
            where isIncluded: @escaping (Query<ResultType>) -> Query<Bool>, keyPaths: [String]? = nil,
            sortDescriptor: Tombolo.SortDescriptor? = nil
        ) {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: .where(isIncluded), keyPaths: keyPaths,
                    sortDescriptors: sortDescriptor.map { [$0] } ?? []))
        }

        private init(_ terms: QueryTerms) {
            self.terms = terms
            _storage = StateObject(wrappedValue: Relay(ObservedQuery<ResultType>(terms)))
        }

        var query: ObservedQuery<ResultType> { storage.model }

        public var wrappedValue: Results<ResultType> { query.shown }
        public var projectedValue: ObservedResults<ResultType> { self }

        nonisolated public func update() {
            MainActor.assumeIsolated { query.declare(terms, environment: environment) }
        }

        /// A condition that replaces the declared one; nil for all objects. It can only be set: reading returns nil.
        public var filter: NSPredicate? {
            get { nil }
            nonmutating set { query.condition = QueryTerms.Condition(newValue) }
        }

        /// A condition that replaces the declared one; nil for all objects. It can only be set: reading returns nil.
        public var `where`: ((Query<ResultType>) -> Query<Bool>)? {
            get { nil }
            nonmutating set { query.condition = newValue.map { .where($0) } ?? .all }
        }

        public var sortDescriptor: Tombolo.SortDescriptor? {
            get { query.sortDescriptors.first }
            nonmutating set { query.sortDescriptors = newValue.map { [$0] } ?? [] }
        }

        /// Adds an object to the Realm. If an object with its primary key exists, that object is updated.
        public func append(_ object: ResultType) { query.append(object) }

        /// Deletes an object from the Realm if it's in the results.
        public func remove(_ object: ResultType) { query.remove(object) }

        /// Deletes the objects at these positions, as `onDelete` requests.
        public func remove(atOffsets offsets: IndexSet) { query.remove(atOffsets: offsets) }
    }

    extension QueryTerms.Condition {
        init(_ predicate: NSPredicate?) { self = predicate.map { .format($0.format) } ?? .all }
    }
#endif
