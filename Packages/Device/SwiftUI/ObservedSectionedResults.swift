#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI
    public import Tombolo
    public import TomboloObservables

    /// The objects of a class in sections, frozen for rendering:
    /// `@ObservedSectionedResults(Dog.self, sectionKeyPath: \.breed) var dogs`. See ``ObservedSections``.
    @MainActor
    @propertyWrapper
    public struct ObservedSectionedResults<Key: Hashable, ResultType: Object & Identifiable>: DynamicProperty {
        @StateObject private var storage: Relay<ObservedSections<Key, ResultType>>
        @Environment(\.realmConfiguration) private var environment
        private let terms: QueryTerms

        /// - Parameter sortDescriptors: an order that keeps each section's objects together. If empty, objects are
        ///   sorted by the section's property in ascending order.
        public init(
            _ type: ResultType.Type, sectionKeyPath: KeyPath<ResultType, Key>,
            sortDescriptors: [Tombolo.SortDescriptor] = [], filter: NSPredicate? = nil, keyPaths: [String]? = nil,
            configuration: Realm.Configuration? = nil
        ) where Key: Persistable {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: QueryTerms.Condition(filter), keyPaths: keyPaths,
                    sortDescriptors: Self.order(sortDescriptors, sectionKeyPath))
            ) { $0[keyPath: sectionKeyPath] }
        }

        public init(
            _ type: ResultType.Type, sectionKeyPath: KeyPath<ResultType, Key>,
            sortDescriptors: [Tombolo.SortDescriptor] = [],
            where isIncluded: @escaping (Query<ResultType>) -> Query<Bool>, keyPaths: [String]? = nil,
            configuration: Realm.Configuration? = nil
        ) where Key: Persistable {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: .where(isIncluded), keyPaths: keyPaths,
                    sortDescriptors: Self.order(sortDescriptors, sectionKeyPath))
            ) { $0[keyPath: sectionKeyPath] }
        }

        /// - Parameter sortDescriptors: an order that keeps each section's objects together.
        public init(
            _ type: ResultType.Type, sectionBlock: @escaping (ResultType) -> Key,
            sortDescriptors: [Tombolo.SortDescriptor], filter: NSPredicate? = nil, keyPaths: [String]? = nil,
            configuration: Realm.Configuration? = nil
        ) {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: QueryTerms.Condition(filter), keyPaths: keyPaths,
                    sortDescriptors: sortDescriptors), by: sectionBlock)
        }

        public init(
            _ type: ResultType.Type, sectionBlock: @escaping (ResultType) -> Key,
            sortDescriptors: [Tombolo.SortDescriptor], where isIncluded: @escaping (Query<ResultType>) -> Query<Bool>,
            keyPaths: [String]? = nil, configuration: Realm.Configuration? = nil
        ) {
            self.init(
                QueryTerms(
                    configuration: configuration, condition: .where(isIncluded), keyPaths: keyPaths,
                    sortDescriptors: sortDescriptors), by: sectionBlock)
        }

        private init(_ terms: QueryTerms, by key: @escaping (ResultType) -> Key) {
            self.terms = terms
            _storage = StateObject(
                wrappedValue: Relay(ObservedSections(ObservedQuery<ResultType>(terms), by: key)))
        }

        private static func order(
            _ descriptors: [Tombolo.SortDescriptor], _ keyPath: KeyPath<ResultType, Key>
        ) -> [Tombolo.SortDescriptor] where Key: Persistable {
            descriptors.isEmpty ? [Tombolo.SortDescriptor(keyPath: keyPath)] : descriptors
        }

        var query: ObservedQuery<ResultType> { storage.model.query }

        public var wrappedValue: SectionedResults<Key, ResultType> { storage.model.shown }
        public var projectedValue: ObservedSectionedResults<Key, ResultType> { self }

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

        public var sortDescriptors: [Tombolo.SortDescriptor] {
            get { query.sortDescriptors }
            nonmutating set { query.sortDescriptors = newValue }
        }

        /// Deletes the objects at these positions of a section, as `onDelete` requests.
        public func remove(atOffsets offsets: IndexSet, section: ResultsSection<Key, ResultType>) {
            storage.model.remove(atOffsets: offsets, section: section)
        }
    }
#endif
