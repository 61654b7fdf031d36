#if canImport(SwiftUI)
    public import SwiftUI
    public import Tombolo
    public import TomboloObservables

    /// An object or list that a view creates and keeps, frozen for rendering once it's managed:
    /// `@StateRealmObject var draft = Dog()`. `$draft.name` is a binding that writes. See ``ObservedValue``.
    @MainActor
    @propertyWrapper
    public struct StateRealmObject<Value: Watchable>: DynamicProperty {
        @StateObject private var storage: Relay<ObservedValue<Value>>

        public init(wrappedValue: @autoclosure @escaping () -> Value) where Value: ObjectBase & Identifiable {
            _storage = StateObject(wrappedValue: Relay(ObservedValue(wrappedValue())))
        }

        public init<Element>(wrappedValue: @autoclosure @escaping () -> Value) where Value == Tombolo.List<Element> {
            _storage = StateObject(wrappedValue: Relay(ObservedValue(wrappedValue())))
        }

        public var wrappedValue: Value {
            get { storage.model.shown }
            nonmutating set { storage.model.value = newValue }
        }

        public var projectedValue: Binding<Value> { Binding(storage.model) }
    }
#endif
