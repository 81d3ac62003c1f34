"""Follow: a recording that grows, into a lake, one version after the other.

Takes the folder of a recording and a lake; publishes a version every few seconds, all tables at
once. Each version has the rows that `pipeline` would make of the recording as it is then;
`docs/live.md` has the exceptions.

    growing_reader     reads on in the recording and writes new rows to files
    reader_process     the process that runs it, one for each recording
    reader_client      the driver's end of that process
    state              what is kept between two versions: events, counts, names of files
    derive_batch       the tasks of Spark: derived tables, publications, joined files
    derivation         the driver's end of these tasks
    followed_capture   the state of a recording in a lake, and the batches that change both
    all_samples        compares all samples at the end
    old_files          deletes files that newer versions have replaced
    recordings         facts about a recording before it is read
    settling           which events are not needed any more
    follower           one recording: read, derive, publish
    following          the loop over several recordings, until a stop or their ends
"""
