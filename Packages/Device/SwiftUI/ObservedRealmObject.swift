#if canImport(SwiftUI)
    public import SwiftUI
    public import Tombolo
    public import TomboloObservables

    /// An object or list that a view gets from its parent, frozen for rendering: `@ObservedRealmObject var dog: Dog`.
    /// `$dog.name` is a binding that writes. See ``ObservedValue``.
    @MainActor
    @propertyWrapper
    public struct ObservedRealmObject<ObjectType: Watchable>: DynamicProperty {
        @StateObject private var storage: Relay<ObservedValue<ObjectType>>
        private let given: ObjectType

        public init(wrappedValue: ObjectType) where ObjectType: ObjectBase & Identifiable { self.init(wrappedValue) }
        public init<Element>(wrappedValue: ObjectType) where ObjectType == Tombolo.List<Element> {
            self.init(wrappedValue)
        }

        private init(_ given: ObjectType) {
            self.given = given
            _storage = StateObject(wrappedValue: Relay(ObservedValue(given)))
        }

        public var wrappedValue: ObjectType {
            get { storage.model.shown }
            nonmutating set { storage.model.value = newValue }
        }

        public var projectedValue: Wrapper { Wrapper(observed: storage.model) }

        nonisolated public func update() { MainActor.assumeIsolated { storage.model.follow(given) } }

        /// Bindings to the object's properties, and operations on the list.
        @MainActor
        @dynamicMemberLookup
        public struct Wrapper {
            let observed: ObservedValue<ObjectType>

            /// A binding that sets the property in a write transaction.
            public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Value>) -> Binding<
                Value
            > {
                Binding(BoundProperty(of: observed, keyPath))
            }

            /// The same, but a value that's equal to the current one isn't written.
            public subscript<Value: Equatable>(
                dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Value>
            ) -> Binding<Value> {
                Binding(BoundProperty(of: observed, keyPath, isEqual: { $0 == $1 }))
            }
        }
    }

    extension ObservedRealmObject.Wrapper where ObjectType: ObjectBase {
        /// Deletes the object from its Realm.
        public func delete() { ImplicitWrite.delete(observed.value) }
    }

    extension ObservedRealmObject.Wrapper {
        /// Appends an element to the list.
        public func append<Element>(_ element: Element) where ObjectType == Tombolo.List<Element> {
            list.append(element)
        }

        /// Removes an element from the list.
        public func remove<Element>(at position: Int) where ObjectType == Tombolo.List<Element> {
            list.remove(at: position)
        }

        /// Removes elements from the list.
        public func remove<Element>(atOffsets offsets: IndexSet) where ObjectType == Tombolo.List<Element> {
            list.remove(atOffsets: offsets)
        }

        /// Moves elements within the list.
        public func move<Element>(fromOffsets offsets: IndexSet, toOffset target: Int)
        where ObjectType == Tombolo.List<Element> {
            list.move(fromOffsets: offsets, toOffset: target)
        }

        private var list: Binding<ObjectType> { Binding(observed) }
    }
#endif
