#if canImport(SwiftUI)
    public import SwiftUI
    public import Tombolo

    extension EnvironmentValues {
        /// The configuration that `@ObservedResults` and similar wrappers use if they don't have their own.
        public var realmConfiguration: Realm.Configuration {
            get { self[RealmConfigurationKey.self] }
            set { self[RealmConfigurationKey.self] = newValue }
        }

        /// The Realm of ``realmConfiguration`` on the calling thread. Setting it sets the configuration. Stops the
        /// program if the Realm can't be opened.
        public var realm: Realm {
            get {
                do {
                    return try Realm(configuration: realmConfiguration)
                } catch {
                    fatalError("Can't open the Realm of \\.realmConfiguration. \(error)")
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

    /// The default configuration at the time of first use, as in Realm.
    enum RealmConfigurationKey: EnvironmentKey {
        static let defaultValue = Realm.Configuration.defaultConfiguration
    }

    private enum PartitionValueKey: EnvironmentKey {
        static var defaultValue: (any PartitionValue)? { nil }
    }
#endif
