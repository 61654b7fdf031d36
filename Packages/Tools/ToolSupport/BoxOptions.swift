public import ArgumentParser

/// What happens to boxes of the permission matrix that were changed in an admin server when newer rules are stored.
public struct BoxOptions: ParsableArguments, Sendable {
    @Flag(
        help: ArgumentHelp(
            "Use the rules as they are in the file, and drop changes made in the admin server.",
            discussion: """
                Without it, boxes of the permission matrix that were changed there stay as they are, as do added and \
                removed roles. Either way, the changes are listed; see docs/rules.md.
                """))
    public var replaceBoxes = false

    public init() {}
}
