public import Foundation

extension User {
    /// The configuration of a Realm that synchronises one partition: all objects that the user may read whose partition
    /// property has this value, and no others. Set `objectTypes` to limit its classes. The file is the user's and the
    /// partition's own unless `fileURL` is set; a user may have several such Realms open at once.
    ///
    /// The partition property is the one that the server's rules declare, otherwise `_partition` or `partition`. Classes
    /// without one aren't synchronised. New objects get the value from the server if the app leaves the property empty.
    ///
    /// Synchronisation ends with the last Realm of the file, once its changes are uploaded.
    public func configuration<T: PartitionValue>(
        partitionValue: T, clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
        cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        let partition = Partition(partitionValue)
        var sync = SyncConfiguration(
            user: self, clientResetMode: clientResetMode,
            cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
        sync.partition = partition
        return configuration(sync, fileName: "\(partition.fileName).realm")
    }

    /// The configuration of a Realm that synchronises the objects whose partition property is nil.
    public func configuration(partitionValue: NSNull?) -> Realm.Configuration {
        configuration(partitionValue: String?.none)
    }
}
