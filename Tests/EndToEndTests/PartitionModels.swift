import Tombolo
import TomboloModel

final class PartitionNote: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var partition = ""
    @Persisted var text = ""
    @Persisted var tags: List<String>

    convenience init(_ text: String, partition: String = "") {
        self.init()
        self.text = text
        self.partition = partition
    }
}

/// Has no partition property.
final class PartitionSetting: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var text = ""
}
