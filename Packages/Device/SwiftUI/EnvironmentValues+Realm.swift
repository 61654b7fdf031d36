#if canImport(SwiftUI)
    public import SwiftUI
    public import Tombolo

    extension EnvironmentValues {
        /// The configuration that `@ObservedResults` and the like use if they have none of their own.
        public var realmConfiguration: Realm.Configuration {
            get { self[RealmConfigurationKey.self] }
            set { self[RealmConfigurationKey.self] = newValue }
        }

        /// The Realm of ``realmConfiguration`` on the calling thread. Setting it sets the configuration. Stops the program
        /// if it can't be opened.
        public var realm: Realm {
            get {
                do {
                    return try Realm(configuration: realmConfiguration)
                } catch {
                    fatalError("The Realm of \\.realmConfiguration cannot be opened. \(error)")
                }
            }
            set { realmConfiguration = newValue.configuration }
        }

        /// The partition that `@AsyncOpen` and `@AutoOpen` open instead of their own.
        public var partitionValue: (any PartitionValue)? {
            get { self[PartitionValueKey.self] }
            set { self[PartitionValueKey.self] = newValue }
        }
    }

    /// The default configuration at the time when it's first asked for, as in Realm.
    enum RealmConfigurationKey: EnvironmentKey {
        static let defaultValue = Realm.Configuration.defaultConfiguration
    }

    private enum PartitionValueKey: EnvironmentKey {
        static var defaultValue: (any PartitionValue)? { nil }
    }
#endif
