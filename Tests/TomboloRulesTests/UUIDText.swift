import Foundation
import TomboloModel

/// A fixed UUID as a value.
enum UUIDText {
    static let value = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8").map(Value.uuid)
}
