#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI
    public import Tombolo
    public import TomboloObservables

    extension Binding {
        @MainActor
        init<Root>(_ property: BoundProperty<Root, Value>) {
            self.init(get: { @MainActor in property.value }, set: { @MainActor in property.value = $0 })
        }

        @MainActor
        init(_ observed: ObservedValue<Value>) where Value: Watchable {
            self.init(get: { @MainActor in observed.shown }, set: { @MainActor in observed.value = $0 })
        }
    }

    @MainActor
    extension Binding where Value: ObjectBase {
        /// A binding to a property of the object. Setting it opens a write transaction.
        public subscript<Property>(
            dynamicMember keyPath: ReferenceWritableKeyPath<Value, Property>
        ) -> Binding<Property> {
            Binding<Property>(BoundProperty(wrappedValue, keyPath, didSet: { wrappedValue = $0 }))
        }

        /// The same, but a value that's equal to the current one isn't written.
        public subscript<Property: Equatable>(
            dynamicMember keyPath: ReferenceWritableKeyPath<Value, Property>
        ) -> Binding<Property> {
            Binding<Property>(
                BoundProperty(wrappedValue, keyPath, isEqual: { $0 == $1 }, didSet: { wrappedValue = $0 }))
        }

        /// Deletes the object from its Realm.
        public func delete() { ImplicitWrite.delete(wrappedValue) }
    }

    /// Changes to a list, each in a write transaction.
    @MainActor
    extension Binding {
        /// Appends an element. A frozen object is thawed.
        public func append<Element>(_ element: Element) where Value == Tombolo.List<Element> {
            change { ImplicitWrite.append(element, to: $0) }
        }

        /// Removes an element.
        public func remove<Element>(at position: Int) where Value == Tombolo.List<Element> {
            change { ImplicitWrite.remove(at: position, from: $0) }
        }

        /// Removes elements, as `onDelete` requests.
        public func remove<Element>(atOffsets offsets: IndexSet) where Value == Tombolo.List<Element> {
            change { ImplicitWrite.remove(atOffsets: offsets, from: $0) }
        }

        /// Moves elements, as `onMove` requests.
        public func move<Element>(fromOffsets offsets: IndexSet, toOffset target: Int)
        where Value == Tombolo.List<Element> {
            change { ImplicitWrite.move(fromOffsets: offsets, toOffset: target, in: $0) }
        }

        /// Setting an unmanaged list again notifies the view of the change.
        private func change<Element>(_ body: (Value) -> Void) where Value == Tombolo.List<Element> {
            let list = wrappedValue
            body(list)
            if list.realm == nil { wrappedValue = list }
        }
    }

    extension ObservableObjectClass where Self: ObjectBase & Watchable {
        /// A binding to a property. Setting it opens a write transaction: `object.bind(\.name)`.
        @MainActor
        public func bind<Value>(_ keyPath: ReferenceWritableKeyPath<Self, Value>) -> Binding<Value> {
            Binding(BoundProperty(self, keyPath))
        }

        /// The same, but a value that's equal to the current one isn't written.
        @MainActor
        public func bind<Value: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, Value>) -> Binding<Value> {
            Binding(BoundProperty(skippingEqual: self, keyPath))
        }
    }
#endif
