public import Foundation

extension User {
    /// The configuration of a Realm that synchronises one partition: all objects that have this value in their
    /// partition property and that the user may read. Set `objectTypes` to limit its classes. Unless `fileURL` is set,
    /// each user and partition has its own file. A user may have several such Realms open at once.
    ///
    /// The partition property is the one that the server's rules declare, otherwise `_partition` or `partition`.
    /// Classes without one aren't synchronised. If the app leaves a new object's property empty, the server sets it.
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
