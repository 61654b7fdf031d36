#if canImport(SwiftUI)
    public import Combine
    public import SwiftUI
    public import Tombolo
    public import TomboloObservables

    /// A synced Realm for the app's current user, which opens once everything has been downloaded:
    /// `@AsyncOpen(appId: "chat", timeout: 4000) var chat`. See ``ObservedOpening``.
    @MainActor
    @propertyWrapper
    public struct AsyncOpen: DynamicProperty {
        private var opening: OpenProperty

        /// - Parameters:
        ///   - appId: the ID of an App that was created before; nil for the only one.
        ///   - configuration: settings to adopt instead of the environment's.
        ///   - timeout: how long to try to connect, in milliseconds; nil for no limit.
        public init(
            appId: String? = nil, partitionValue: any PartitionValue, configuration: Realm.Configuration? = nil,
            timeout: UInt? = nil
        ) {
            opening = OpenProperty(appId, partitionValue, configuration, timeout, .showError)
        }

        public init(appId: String? = nil, configuration: Realm.Configuration? = nil, timeout: UInt? = nil) {
            opening = OpenProperty(appId, nil, configuration, timeout, .showError)
        }

        public var wrappedValue: AsyncOpenState { opening.state }
        public var projectedValue: Published<AsyncOpenState>.Publisher { opening.publisher }

        /// Stops an opening in progress.
        public func cancel() { opening.cancel() }
    }

    /// Like ``AsyncOpen``, but if the download fails, opens the file with what it has, for working offline.
    @MainActor
    @propertyWrapper
    public struct AutoOpen: DynamicProperty {
        private var opening: OpenProperty

        /// The parameters are those of ``AsyncOpen``.
        public init(
            appId: String? = nil, partitionValue: any PartitionValue, configuration: Realm.Configuration? = nil,
            timeout: UInt? = nil
        ) {
            opening = OpenProperty(appId, partitionValue, configuration, timeout, .openFile)
        }

        public init(appId: String? = nil, configuration: Realm.Configuration? = nil, timeout: UInt? = nil) {
            opening = OpenProperty(appId, nil, configuration, timeout, .openFile)
        }

        public var wrappedValue: AsyncOpenState { opening.state }
        public var projectedValue: Published<AsyncOpenState>.Publisher { opening.publisher }

        /// Stops an opening in progress.
        public func cancel() { opening.cancel() }
    }

    /// The common implementation of both wrappers.
    @MainActor
    struct OpenProperty: DynamicProperty {
        @StateObject private var storage: OpenStorage
        @Environment(\.realmConfiguration) private var environment
        @Environment(\.partitionValue) private var environmentPartition
        private let partition: (any PartitionValue)?
        private let configuration: Realm.Configuration?

        init(
            _ appID: String?, _ partition: (any PartitionValue)?, _ configuration: Realm.Configuration?,
            _ timeout: UInt?,
            _ onFailure: ObservedOpening.FailureBehavior
        ) {
            self.partition = partition
            self.configuration = configuration
            _storage = StateObject(
                wrappedValue: OpenStorage(
                    ObservedOpening(
                        appID: appID, partition: partition, configuration: configuration,
                        timeout: timeout.map { .milliseconds($0) }, onFailure: onFailure)))
        }

        nonisolated func update() {
            MainActor.assumeIsolated {
                let isDefault = environment == RealmConfigurationKey.defaultValue
                storage.opening.declare(
                    partition: environmentPartition ?? partition,
                    configuration: configuration ?? (isDefault ? nil : environment))
            }
        }

        var state: AsyncOpenState { storage.opening.state }
        var publisher: Published<AsyncOpenState>.Publisher { storage.$state }
        func cancel() { storage.opening.cancel() }
    }

    @MainActor
    final class OpenStorage: ObservableObject {
        let opening: ObservedOpening
        /// The same as the opening's state, for subscribers.
        @Published var state = AsyncOpenState.connecting

        init(_ opening: ObservedOpening) {
            self.opening = opening
            opening.willChange = { [weak self] in self?.state = $0 }
        }
    }
#endif
