// The SwiftUI declarations that the layer and its example use, isolated like the real ones but without behaviour, since
// the layer is only type-checked.

@_exported public import Combine
@_exported public import Foundation

#if MAIN_ACTOR_PROPERTIES
    @MainActor @preconcurrency
    public protocol DynamicProperty {
        mutating func update()
    }
#else
    public protocol DynamicProperty {
        mutating func update()
    }
#endif

extension DynamicProperty {
    public mutating func update() {}
}

// MARK: Property wrappers

@propertyWrapper
public struct StateObject<ObjectType: ObservableObject>: DynamicProperty {
    public nonisolated init(wrappedValue: @autoclosure @escaping () -> ObjectType) {}
    @MainActor @preconcurrency public var wrappedValue: ObjectType { fatalError() }
    @MainActor @preconcurrency public var projectedValue: ObservedObject<ObjectType>.Wrapper { fatalError() }
}

@propertyWrapper
@MainActor @preconcurrency
public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
    @dynamicMemberLookup
    @MainActor @preconcurrency
    public struct Wrapper {
        public subscript<Subject>(
            dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>
        ) -> Binding<Subject> { fatalError() }
    }

    public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
    public var wrappedValue: ObjectType
    public var projectedValue: Wrapper { Wrapper() }
}

@propertyWrapper
public struct State<Value>: DynamicProperty {
    public nonisolated init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
    public static func constant(_ value: Value) -> Binding<Value> { fatalError() }

    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

extension Binding: @unchecked Sendable where Value: Sendable {}
extension Binding: DynamicProperty {}

extension Binding: Sequence where Value: MutableCollection {
    public typealias Element = Binding<Value.Element>
    public typealias Iterator = IndexingIterator<Binding<Value>>
}

extension Binding: Collection where Value: MutableCollection {
    public var startIndex: Value.Index { fatalError() }
    public var endIndex: Value.Index { fatalError() }
    public func index(after index: Value.Index) -> Value.Index { fatalError() }
    public subscript(position: Value.Index) -> Binding<Value.Element> { fatalError() }
}

extension RangeReplaceableCollection where Self: MutableCollection {
    public mutating func remove(atOffsets offsets: IndexSet) {}
}

extension MutableCollection {
    public mutating func move(fromOffsets source: IndexSet, toOffset destination: Int) {}
}

// MARK: Environment

public struct EnvironmentValues {
    public init() {}
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { fatalError() }
        set {}
    }
}

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    public nonisolated init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}

// MARK: Views

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension View where Body == Never {
    public var body: Never { fatalError() }
}

extension Scene where Body == Never {
    public var body: Never { fatalError() }
}

extension Never: View {
    public typealias Body = Never
    public var body: Never { return fatalError() }
}

/// Stands for every view here.
public struct Anything: View {
    public typealias Body = Never
    public nonisolated init() {}
}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock() -> Anything { Anything() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Anything { Anything() }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf(_ content: Anything?) -> Anything { Anything() }
    public static func buildEither(first: Anything) -> Anything { Anything() }
    public static func buildEither(second: Anything) -> Anything { Anything() }
}

public struct LocalizedStringKey: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {}
}

public struct Text: View {
    public typealias Body = Never
    public nonisolated init(_ content: some StringProtocol) {}
}

public struct VStack: View {
    public typealias Body = Never
    public init(@ViewBuilder content: () -> some View) {}
}

public struct List: View {
    public typealias Body = Never
    public init(@ViewBuilder content: () -> some View) {}
    public init<Data: RandomAccessCollection>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> some View
    ) where Data.Element: Identifiable {}
}

public struct Section: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, @ViewBuilder content: () -> some View) {}
}

public protocol DynamicViewContent: View {}

public struct ForEach<Data: RandomAccessCollection>: DynamicViewContent {
    public typealias Body = Never
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> some View)
    where Data.Element: Identifiable {}
}

extension DynamicViewContent {
    public func onDelete(perform: ((IndexSet) -> Void)?) -> some DynamicViewContent {
        ForEach([Row]()) { _ in Anything() }
    }
    public func onMove(perform: ((IndexSet, Int) -> Void)?) -> some DynamicViewContent {
        ForEach([Row]()) { _ in Anything() }
    }
}

struct Row: Identifiable { let id: Int }

public struct Button: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
}

public struct TextField: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}

public struct Toggle: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, isOn: Binding<Bool>) {}
}

public struct ProgressView: View {
    public typealias Body = Never
    public init() {}
    public init(_ progress: Progress) {}
}

public struct SearchFieldPlacement: Sendable {
    public static let automatic = SearchFieldPlacement()
}

extension View {
    public nonisolated func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View { Anything() }
    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View { Anything() }
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { Anything() }
    public nonisolated func onReceive<P: Publisher>(
        _ publisher: P, perform action: @escaping (P.Output) -> Void
    ) -> some View where P.Failure == Never { Anything() }
    public nonisolated func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (_ old: Value, _ new: Value) -> Void
    ) -> some View { Anything() }
    public nonisolated func searchable(
        text: Binding<String>, placement: SearchFieldPlacement = .automatic, prompt: Text? = nil
    ) -> some View { Anything() }
    public nonisolated func searchable(
        text: Binding<String>, placement: SearchFieldPlacement = .automatic, prompt: LocalizedStringKey
    ) -> some View { Anything() }
    public nonisolated func searchable(
        text: Binding<String>, placement: SearchFieldPlacement = .automatic, prompt: some StringProtocol
    ) -> some View { Anything() }
}

// MARK: Apps

@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

@resultBuilder
public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup: Scene {
    public typealias Body = Never
    public init(@ViewBuilder content: () -> some View) {}
}

@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}
