import ArgumentParser

/// What every process of this measurement is told.
struct ObjectStoreOptions: ParsableArguments {
    @Option var side: ObjectStoreSide
    @Option var file: String
    /// Objects in the file, or to make.
    @Option var objects: Int
}
