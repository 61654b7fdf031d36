internal import TomboloModel

/// Two configurations are equal if they open the same file in the same way. Blocks aren't compared.
extension Realm.Configuration: Equatable {
    public static func == (left: Realm.Configuration, right: Realm.Configuration) -> Bool {
        left.place == right.place && left.readOnly == right.readOnly && left.keepsUploadQueue == right.keepsUploadQueue
            && left.encryptionKey == right.encryptionKey && left.schemaVersion == right.schemaVersion
            && left.deleteRealmIfMigrationNeeded == right.deleteRealmIfMigrationNeeded
            && left.maximumNumberOfActiveVersions == right.maximumNumberOfActiveVersions
            && left.seedFilePath == right.seedFilePath
            && left.objectTypes?.map(ObjectIdentifier.init) == right.objectTypes?.map(ObjectIdentifier.init)
            && left.syncConfiguration?.user == right.syncConfiguration?.user
            && left.syncConfiguration?.partition == right.syncConfiguration?.partition
    }
}
