#if canImport(SwiftUI)
    import Combine
    import TomboloObservables

    /// Forwards the observable core's notifications to SwiftUI.
    @MainActor
    final class Relay<Model>: ObservableObject {
        let model: Model
        /// Publishing this notifies SwiftUI.
        @Published private var changes = 0

        private init(model: Model) { self.model = model }

        convenience init<Value>(_ value: ObservedValue<Value>) where Model == ObservedValue<Value> {
            self.init(model: value)
            value.willChange = { [weak self] in self?.changes &+= 1 }
        }

        convenience init<Element>(_ query: ObservedQuery<Element>) where Model == ObservedQuery<Element> {
            self.init(model: query)
            query.willChange = { [weak self] in self?.changes &+= 1 }
        }

        convenience init<Key, Element>(
            _ sections: ObservedSections<Key, Element>
        ) where Model == ObservedSections<Key, Element> {
            self.init(model: sections)
            sections.query.willChange = { [weak self] in self?.changes &+= 1 }
        }
    }
#endif
