import ArgumentParser

/// The options of every process of this measurement.
struct ObjectStoreOptions: ParsableArguments {
    @Option var side: ObjectStoreSide
    @Option var file: String
    /// The number of objects in the file, or to create.
    @Option var objects: Int
}
