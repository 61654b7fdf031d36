import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

extension EditPage {
    /// The input, based on the object's current version for the next attempt. Fields that only somebody else changed
    /// get that value. Fields that both changed keep the input, with a message that says the current value.
    func rebased(_ mine: Content, onto theirs: PanelResource) async throws -> Content {
        let theirs = content(of: theirs)
        var content = mine
        content.version = theirs.version
        content.was = theirs.was
        content.sizes = theirs.sizes
        content.images = theirs.images
        content.problems = [.changedMeanwhile]
        for field in fields {
            let name = field.field.name
            let (was, now) = (mine.was[name] ?? .null, theirs.was[name] ?? .null)
            let own = mine.entered[name].map { field.json($0, was: was) } ?? was
            if own == was {
                content.entered[name] = field.text(now)
            } else if was != now, own != now {
                content.problems.append(Self.clash(field.field, try await text(now, field)))
            }
        }
        for part in parts {
            let name = part.field.name
            guard let own = changed(part, mine) else {
                content.entries[name] = theirs.entries[name]
                continue
            }
            guard let now = theirs.was[name] else {
                content.entries[name] = nil
                content.problems.append(Self.tooLong(part))
                continue
            }
            guard now != mine.was[name] ?? .null, own != now else { continue }
            let text = try await ConflictPage(edit: self, mine: mine).text(now, part)
            content.problems.append(Self.clash(part.field, text))
        }
        for field in byteFields where mine.bytes[field.name] == .null {
            // The user hasn't seen the bytes that would be removed.
            content.bytes[field.name] = nil
            content.problems.append(
                RequestFailure(
                    .preconditionFailed, "Your choice wasn't kept.", hint: "Make it again.",
                    source: Self.place(of: field)))
        }
        return content
    }

    /// The failure for an embedded object or a list that somebody else has made too long for a form.
    static func tooLong(_ part: FormPart) -> RequestFailure {
        RequestFailure(
            .preconditionFailed, "\(part.title) has become too long for a form, so your input there was discarded.",
            hint: "Change it over JSON:API.")
    }

    private static func place(of field: ResourceField) -> RequestFailure.Source {
        .pointer((pointer / "attributes" / field.name).description)
    }

    private static func clash(_ field: ResourceField, _ theirs: String) -> RequestFailure {
        RequestFailure(
            .preconditionFailed, "Somebody has changed it in the meantime. Current value: \(theirs).",
            hint: "Saving again overwrites it with your value.", source: place(of: field))
    }
}
